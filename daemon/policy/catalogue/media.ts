/** Converters of sound and pictures, captures of packets, and openssl: what they read and write is named by options. */

import type { Word } from "../shell/segment.ts";
import { type Draft, reads, use, writes } from "./draft.ts";
import { type Form, given, textOf, type VerbSpec } from "./spec.ts";

const PLAIN_FILE = /^[^:|%@-][^:|]*$/;

/** Options of ffmpeg with a value that is a number, a time or a name; filters can read files and are not here. */
const VALUED =
  /^-(?:ss|t|to|c|codec|acodec|vcodec|scodec|r|b|ar|ac|f|pix_fmt|preset|crf|map|frames|vframes|aframes|q|qscale|s|aspect|threads|loop|loglevel|v|movflags|vsync|profile|level|tune|g|stream_loop|itsoffset|select_streams|show_entries|of|print_format|output_ts_offset)(?::[a-z0-9:]+)?$/;
const ALONE =
  /^-(?:an|vn|sn|dn|y|n|shortest|hide_banner|nostdin|nostats|stats|show_format|show_streams|show_frames|show_packets|copyts|re)$/;

function describeFfmpeg(words: readonly Word[], draft: Draft): void {
  const probes = draft.form === "ffprobe";
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] as Word;
    const text = textOf(word);
    if (text === "-i") {
      i += 1;
      if (words[i] !== undefined) file(words[i] as Word, draft, true);
    } else if (text !== null && ALONE.test(text)) continue;
    else if (text !== null && VALUED.test(text)) i += 1;
    else if (text?.startsWith("-"))
      draft.lifts.push(`option ${text} of ${draft.form} is not known`);
    else file(word, draft, probes);
  }
}

/** A file by a plain name: a colon would name a protocol that can reach anything. */
function file(word: Word, draft: Draft, reading: boolean): void {
  const text = textOf(word);
  if (text !== null && !PLAIN_FILE.test(text))
    draft.lifts.push(`${word.text} of ${draft.form} may be no plain file`);
  if (reading) reads(draft, word, "input");
  else writes(draft, word, "output");
}

const keys: Form = {
  oneDash: true,
  flags:
    "-noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -modulus -pubkey -pubin -pubout -nodes " +
    "-noenc -x509 -new -days= -subj= -newkey= -sha256 -sha1 -sha512 -md5 -hex -base64 -a -A -d -e -inform= -outform= -check " +
    "-batch -aes256 -aes-256-cbc -aes128 -des3 -pbkdf2 -iter= -salt -nosalt -r -c -verify_return_error -addext= -name= -genkey",
  reads: "-in= -key= -inkey= -CAfile= -CA= -CAkey= -signkey= -verify= -signature= -certfile=",
  writes: "-out= -keyout=",
  lifts: {
    "loads code or settings":
      "-config= -engine= -provider= -provider-path= -rand= -writerand= -extfile=",
    "takes a secret": "-passin= -passout= -pass= -k= -K= -iv=",
  },
  operands: "read",
};

export const media: readonly VerbSpec[] = [
  {
    names: ["ffmpeg", "ffprobe"],
    note: "plain files only, without filters",
    class: "write",
    help: "-version --version -h --help -formats -codecs -encoders -decoders -filters -protocols",
    custom: describeFfmpeg,
    examples: ["ffmpeg -version"],
  },
  {
    names: ["tshark", "tcpdump"],
    note: "a capture from a file; from an interface it is the network",
    flags:
      "-n -nn -q -v -vv -V -x -X -A -e= -E= -t= -T= -Y= -z= -c= -R= -2 -l -S -tttt -d= -O= -P -s=",
    reads: "-r=",
    writes: "-w=",
    lifts: {
      "runs code or reads settings": "-K= -o= -C= -F= --export-objects= -W= -G= -a= -b=",
      "captures from an interface": "-i= -I -D -p",
    },
    operands: "data",
    help: "--version -version --help -h",
    refine: (parsed, draft) => {
      if (!given(parsed, "-r")) use(draft, "network", draft.form);
      // The same letters load scripts, decrypt or run programs in one of the two.
      if (given(parsed, draft.form === "tcpdump" ? "-z -e -E -R" : "-X -A"))
        draft.lifts.push(`options of ${draft.form} that can run code`);
    },
    examples: ["tshark --version"],
  },
  {
    names: ["openssl"],
    sub: {
      version: { flags: "-a -v -d", oneDash: true },
      "dgst sha256 sha1 sha512 md5 x509 req rsa pkey ec verify crl pkcs12 base64 enc": keys,
      "genrsa ecparam genpkey": {
        ...keys,
        operands: "data",
        flags: `${keys.flags} -algorithm= -pkeyopt=`,
      },
      rand: { ...keys, operands: "data" },
      "s_client s_server ocsp": {
        class: "network",
        custom: (_words, draft) => use(draft, "network", draft.form),
      },
    },
    help: "version help",
    examples: ["openssl version"],
  },
];
