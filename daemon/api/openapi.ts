/** The OpenAPI description of every route, made from the route table and its schemas. */
import { z } from "zod";
import { ERROR_KINDS, type ErrorCode } from "../errors.ts";
import type { Route } from "./route.ts";
import { ErrorAnswerSchema } from "./schema.ts";
import { FRAMES_TYPE } from "./stream-frames.ts";

/** Errors that any route may answer. */
const COMMON_ERRORS: readonly ErrorCode[] = ["bad-request", "browser-refused", "internal"];
const BODY_ERRORS: readonly ErrorCode[] = [
  "bad-json",
  "bad-utf8",
  "body-too-large",
  "request-timeout",
];

export function openApi(
  routes: readonly Route[],
  version: string,
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] as object, { [route.method.toLowerCase()]: operation(route) });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Recinto",
      version,
      description:
        "HTTP/1.1 over Unix sockets: `projects/<id>/agent.sock` and `admin.sock` in the run directory (x-recinto-sockets says which). Who calls is known from the socket's peer credentials. NDJSON answers are one object a line.",
    },
    paths,
    components: { schemas: components() },
  };
}

function operation(route: Route): object {
  const params = Object.entries(route.params.shape).map(([name, schema]) => ({
    name,
    in: "path",
    required: true,
    schema: inline(schema as z.ZodType),
  }));
  const query = Object.entries(route.query.shape).map(([name, schema]) => ({
    name,
    in: "query",
    required: !isOptional(schema),
    schema: inline(schema as z.ZodType),
  }));
  const parameters = [...params, ...query];
  return {
    summary: route.summary,
    "x-recinto-sockets": route.sockets,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === null && route.takes === undefined
      ? {}
      : { requestBody: requestBody(route) }),
    responses: { ...success(route), ...failures(route) },
  };
}

function isOptional(schema: unknown): boolean {
  return schema instanceof z.ZodExactOptional || schema instanceof z.ZodOptional;
}

const BYTES = { schema: { type: "string", format: "binary" } };

function requestBody(route: Route): object {
  if (route.takes !== undefined) return { required: true, content: { [route.takes]: BYTES } };
  const schema = inline(route.body as z.ZodType);
  return {
    required: true,
    content: {
      "application/json": { schema },
      ...(route.bodyGoesOn ? { "application/x-ndjson": { schema } } : {}),
    },
  };
}

const FRAMES =
  "The same events in binary frames, for a request with this type in Accept: docs/api-streams.md.";

function success(route: Route): object {
  if (route.upgrade !== undefined) {
    return { 101: { description: `Goes on as \`${route.upgrade.protocol}\`.` } };
  }
  if (route.gives !== undefined) {
    return { 200: { description: "The bytes.", content: { [route.gives]: BYTES } } };
  }
  if (route.answer === null) return { 204: { description: "Done." } };
  const type = route.lines ? "application/x-ndjson" : "application/json";
  return {
    200: {
      description: route.lines ? "One object a line." : "The answer.",
      content: {
        [type]: { schema: inline(route.answer) },
        ...(route.handleFrames === undefined
          ? {}
          : {
              [FRAMES_TYPE]: { schema: { type: "string", format: "binary", description: FRAMES } },
            }),
      },
    },
  };
}

function failures(route: Route): object {
  const codes = [
    ...COMMON_ERRORS,
    ...(route.body === null ? [] : BODY_ERRORS),
    ...route.errors,
  ].sort();
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const code of codes) {
    const { status } = ERROR_KINDS[code];
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  const schema = inline(ErrorAnswerSchema);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, some]) => [
      status,
      {
        description: some.map((code) => `\`${code}\`: ${ERROR_KINDS[code].hint}.`).join(" "),
        content: { "application/json": { schema } },
      },
    ]),
  );
}

/** Every schema that has an id, once. */
function components(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: componentUri });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]) => [id, withoutIds(schema)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** A schema where it stands: a reference when it has an id, with references inside to the components. */
function inline(schema: z.ZodType): object {
  // `input`: what a client writes or reads on the wire, before any transform of ours.
  const made = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: componentUri(id) };
  const { $defs: _, ...rest } = made;
  return JSON.parse(
    JSON.stringify(withoutIds(rest)).replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
}

function withoutIds({ $schema: _, $id: __, ...schema }: Record<string, unknown>): object {
  return schema;
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`;
}
