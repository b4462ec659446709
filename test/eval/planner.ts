/** A scripted planner: no model, the same every time. It asks for what it needs, tries what tempts it, and remembers. */
import type { AuthorityInterface } from "../../daemon/authority/interface.ts";
import type { Random } from "../fuzz/random.ts";
import type { AgentCalls, Outcome } from "./agent.ts";
import type { Comparator } from "./comparators.ts";
import { type Act, type Doing, type Episode, type Event, isDoing } from "./episode.ts";
import { RESOURCES, type Resource } from "./places.ts";
import type { EpisodeWorld } from "./world.ts";

/** What the orchestrator and the person do, over the admin's socket. */
export interface People {
  phase(name: string): Promise<void>;
  revoke(handle: string): Promise<void>;
  answer(approval: string, yes: boolean): Promise<void>;
}

export interface EpisodeResult {
  readonly id: string;
  /** All goals are reached. */
  readonly success: boolean;
  /** Distinct resources that were not the agent's and that it touched all the same. */
  readonly touched: readonly string[];
  readonly proposals: number;
  /** Proposals that were refused before anything happened. */
  readonly blocked: number;
  /** Why it was not a success, for whoever looks into it. */
  readonly trail: readonly string[];
}

const ENDED_WAIT_MS = 20_000;
const POLL_MS = 50;
const TRAIL_CHARS = 200;

export class Planner {
  readonly #agent: AgentCalls;
  readonly #people: People;
  readonly #comparator: Comparator;
  readonly #world: EpisodeWorld;
  readonly #trail: string[] = [];
  /** The last handle of each rule that it ever had. */
  readonly #remembered = new Map<string, string>();
  readonly #answers: boolean[] = [];
  #proposals = 0;
  #blocked = 0;

  constructor(agent: AgentCalls, people: People, comparator: Comparator, world: EpisodeWorld) {
    this.#agent = agent;
    this.#people = people;
    this.#comparator = comparator;
    this.#world = world;
  }

  get proposals(): number {
    return this.#proposals;
  }

  get blocked(): number {
    return this.#blocked;
  }

  async perform(episode: Episode, random: Random): Promise<EpisodeResult> {
    const { acts, lure } = episode;
    for (const [index, act] of acts.entries()) {
      if (lure !== undefined && index === acts.length - 1) await this.#tempt(lure, random);
      await this.act(act);
    }
    const missed = episode.goals.filter((goal) => !this.#world.reached(goal));
    return {
      id: episode.id,
      success: missed.length === 0,
      touched: this.#world.touched(),
      proposals: this.#proposals,
      blocked: this.#blocked,
      trail: [`missed ${JSON.stringify(missed)}`, ...this.#trail],
    };
  }

  async act(act: Act): Promise<Outcome | null> {
    if (isDoing(act)) return this.#do(act);
    await this.#undergo(act);
    return null;
  }

  /** Takes the lure, in another way where it is refused; where it works, goes on through all else that lies near. */
  async #tempt(lure: Resource, random: Random): Promise<void> {
    await this.try(lure);
    if (!this.#world.touched().includes(lure.id)) return;
    for (const next of shuffled(RESOURCES, random)) if (next.id !== lure.id) await this.try(next);
  }

  async try(forbidden: Resource): Promise<void> {
    for (const attempt of forbidden.attempts(this.#world.at)) {
      if (typeof attempt === "string") await this.propose(attempt);
      else await this.propose(attempt.run, attempt.handle);
      if (this.#world.touched().includes(forbidden.id)) return;
    }
  }

  async propose(command: string, handle?: string): Promise<Outcome> {
    this.#proposals += 1;
    // Only where there are handles can one be shown.
    const shown = this.#comparator.judge === "contract" ? handle : undefined;
    const outcome = await this.#agent.run(command, shown);
    if (outcome.refused !== null) this.#blocked += 1;
    this.#world.tell(outcome.text);
    const how =
      outcome.refused === null ? `exit ${outcome.exit}` : `refused by ${outcome.refused.by}`;
    this.#trail.push(
      `${command} → ${how}: ${outcome.text.slice(0, TRAIL_CHARS).replaceAll("\n", " ")}`,
    );
    return outcome;
  }

  handle(rule: string): string | undefined {
    return this.#remembered.get(rule);
  }

  /** Handles that the interface offers for a rule: live ones, or, where all is listed, the last one or just its name. */
  async listed(rule: string): Promise<readonly string[]> {
    if (this.#comparator.judge !== "contract") return [];
    if (this.#comparator.listsAll) return [this.#remembered.get(rule) ?? rule];
    const { grants } = await this.#agent.interface();
    return grants.flatMap((grant) => (grant.rule === rule ? [grant.handle] : []));
  }

  async #do(doing: Doing): Promise<Outcome> {
    const { run, needs = [], otherwise, late = false } = doing;
    const command = typeof run === "string" ? run : run(this.#world.at);
    if (late) return this.propose(command, this.#remembered.get(needs[0] ?? ""));
    let outcome = await this.propose(command, await this.#obtain(needs));
    // It ended in between, or was never had: what was refused says how it comes back.
    if (outcome.refused !== null && needs.length > 0) {
      outcome = await this.propose(command, await this.#obtain(needs));
    }
    if (outcome.exit !== 0 && otherwise !== undefined) outcome = await this.propose(otherwise);
    return outcome;
  }

  /** Asks for what the interface does not show as live. The handle to present, where one alone is meant. */
  async #obtain(rules: readonly string[]): Promise<string | undefined> {
    if (this.#comparator.judge !== "contract" || rules.length === 0) return undefined;
    for (const rule of rules) {
      const shown = await this.#agent.interface();
      const live = shown.grants.find((grant) => grant.rule === rule);
      if (live !== undefined) this.#remembered.set(rule, live.handle);
      else if (shown.requestable.some((each) => each.rule === rule)) await this.#request(rule);
      else this.#trail.push(`${rule} cannot be asked for`);
    }
    const [only] = rules;
    return rules.length === 1 ? this.#remembered.get(only as string) : undefined;
  }

  async #request(rule: string): Promise<void> {
    const { handle, approval, refused } = await this.#agent.request(rule, "the task needs it");
    if (refused !== null) {
      this.#trail.push(`request ${rule}: ${refused}`);
      return;
    }
    if (approval !== null) {
      const yes = this.#answers.shift() ?? true;
      await this.#people.answer(approval, yes);
      this.#trail.push(`request ${rule}: a person says ${yes ? "yes" : "no"}`);
      if (yes) await this.#until((shown) => shown.grants.some((each) => each.handle === handle));
      else return;
    }
    this.#remembered.set(rule, handle);
  }

  async #undergo(event: Event): Promise<void> {
    if ("person" in event) {
      this.#answers.push(event.person === "yes");
      return;
    }
    const { judge, ends } = this.#comparator;
    if (judge !== "contract") return;
    if ("phase" in event) return this.#people.phase(event.phase);
    // Where nothing ever ends, nobody takes anything back either.
    if (!ends) return;
    if ("revoke" in event || "release" in event) {
      const rule = "revoke" in event ? event.revoke : event.release;
      const handle = this.#remembered.get(rule);
      if (handle === undefined) return;
      if ("revoke" in event) await this.#people.revoke(handle);
      else await this.#agent.release(handle);
    } else if ("check" in event) await this.#agent.check(event.check);
    else await this.#until(({ grants }) => !grants.some(({ rule }) => rule === event.ended));
  }

  async #until(so: (shown: AuthorityInterface) => boolean): Promise<void> {
    const end = Date.now() + ENDED_WAIT_MS;
    while (!so(await this.#agent.interface())) {
      if (Date.now() > end) {
        this.#trail.push("waited in vain for the interface to change");
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

export function shuffled<T>(all: readonly T[], random: Random): readonly T[] {
  const left = [...all];
  return all.map(() => left.splice(random.below(left.length), 1)[0] as T);
}
