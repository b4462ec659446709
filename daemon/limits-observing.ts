/** Bounds of what people and monitors are shown of a running daemon. */

/** Longest value of a log field sent to the journal: far below what one datagram holds. */
export const LOG_FIELD_CHARS_MAX = 16_384;
/** Series of one metric; more labels than that are counted together. A monitor holds each for weeks. */
export const METRIC_SERIES_MAX = 500;
/** Longest value of a label: rules are named in a few words. */
export const METRIC_LABEL_CHARS_MAX = 128;
/** Most often that `recinto top` asks, seconds: each time is some requests for every session. */
export const TOP_INTERVAL_MIN_S = 0.5;
