/** Jobs of a session that a test makes up: each with output that is there from the start, and what was sent to it. */
import { RecintoError } from "../../daemon/errors.ts";
import type { JobCalls, JobEvent, JobInfo } from "../../daemon/supervisor/jobs/job-calls.ts";

export const JOB: JobInfo = {
  id: "x-1",
  session: "s1",
  action: "a1",
  command: "npm run dev",
  cwd: "/tmp",
  state: "running",
  detached: true,
  tty: { rows: 24, columns: 80 },
  stdin: true,
  confinement: "mounts-only",
  startedAt: 1,
  output: { from: 2, to: 8 },
  readers: 0,
};

export class FakeJobs implements JobCalls {
  /** By id; output is all of it, `from` 2 says that its beginning is lost. */
  readonly jobs = new Map<string, JobInfo>([[JOB.id, JOB]]);
  readonly sent: unknown[] = [];
  events: readonly JobEvent[] = [
    { type: "at", offset: 2, lost: 2 },
    { type: "stdout", data: Buffer.from("ab\xff", "latin1") },
    { type: "stderr", data: Buffer.from("é") },
    { type: "end", next: 7, state: "running" },
  ];

  list: JobCalls["list"] = () => [...this.jobs.values()];

  show: JobCalls["show"] = (_caller, _session, id) => {
    const found = this.jobs.get(id);
    if (found === undefined) throw new RecintoError("unknown-job", `no job ${id}`);
    return found;
  };

  async *output(...[caller, session, id, request]: Parameters<JobCalls["output"]>) {
    this.show(caller, session, id);
    this.sent.push(request);
    yield* this.events;
  }

  write: JobCalls["write"] = async (caller, session, id, data) => {
    this.show(caller, session, id);
    this.sent.push(Buffer.from(data).toString("latin1"));
  };

  endInput: JobCalls["endInput"] = () => this.sent.push("end");

  signal: JobCalls["signal"] = (caller, session, id, signal, tree) => {
    this.show(caller, session, id);
    this.sent.push({ signal, tree });
  };

  resize: JobCalls["resize"] = (caller, session, id, size) => {
    this.show(caller, session, id);
    this.sent.push(size);
  };

  kill: JobCalls["kill"] = async (caller, session, id) => ({
    ...this.show(caller, session, id),
    state: "ended",
  });
}
