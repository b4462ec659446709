/** A world under one contract, and what its agent and its admin do about authority. */
import type { GrantAnswer } from "../../daemon/supervisor/authority/authority-calls.ts";
import { admin, agent, World } from "./world.ts";

export const CONTRACT = `task: tidy
phases: [implement, verify]
envelope:
  - {effect: read, paths: ["**"]}
  - {effect: run, commands: [[make, test]]}
grants:
  docs: {effect: write, paths: ["docs/**"], phase: implement, closes: [written]}
  other: {effect: write, paths: ["docs/**", "notes/**"], ttl: 1h}
  once: {effect: write, paths: [once.txt], uses: 1}
  asked: {effect: write, paths: [asked.txt], approval: person, ttl: 1h}
closures:
  written: {file: {path: docs/done}}
deny:
  - {paths: ["**/.env", "docs/private/**"]}
`;

export const never = new AbortController().signal;

export class AuthorityWorld extends World {
  session = "";

  static async make(): Promise<AuthorityWorld> {
    const world = new AuthorityWorld();
    world.profile = world.profile.replace("extends: default", "extends: dev");
    world.write(`${world.worktree()}/docs/a.md`, "a\n");
    await world.start();
    world.session = await world.open();
    return world;
  }

  readonly set = (text = CONTRACT, caller = admin()) =>
    this.supervisor.authority.setContract(caller, { project: "web", worktree: "one", text });

  readonly request = (rule: string, more: object = {}): Promise<GrantAnswer> =>
    this.supervisor.authority.request(
      agent(),
      this.session,
      { rule, reason: "the task", ...more },
      never,
    );

  readonly shown = () => this.supervisor.authority.interface(agent(), this.session);
}
