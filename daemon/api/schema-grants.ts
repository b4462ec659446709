/** The words of grants that commands, files and questions share with the authority itself. */
import { z } from "zod";
import { GRANTABLE_EFFECTS } from "../authority/types.ts";
import { GRANT_HANDLE_CHARS_MAX } from "../limits-authority.ts";
import { CountTextSchema } from "./schema-text.ts";

export const GrantableEffectSchema = z.enum(GRANTABLE_EFFECTS);

/** What a grant is on. */
export const resource = {
  paths: z.array(z.string()).meta({ description: "Relative to the worktree." }),
  hosts: z.array(z.string()),
  commands: z.array(z.array(z.string())).meta({ description: "Beginnings of commands." }),
};

const handle = z.string().min(1).max(GRANT_HANDLE_CHARS_MAX).exactOptional().meta({
  description:
    "The grant it acts on; absent: the daemon picks one, unless the profile wants it named.",
});
const EPOCH = "The interface it acts on: grants that came later do not carry it.";

/** What an action says about the authority that it acts on. */
export const presented = {
  handle,
  epoch: z.int().min(0).exactOptional().meta({ description: EPOCH }),
};

/** The same in a query. */
export const presentedText = {
  handle,
  epoch: CountTextSchema.exactOptional().meta({ description: EPOCH }),
};
