// mapd in pi: reads with a map of the whole file and an anchor for every line,
// edits by those anchors. One daemon, shared with other agents, keeps what each
// was shown; this file only carries messages between it and pi.
//
// Without mapd, pi has its own read and edit again, and says so in one line.
// --mapd-map separate makes each map a message of its own.

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const installed = "MAPD_COMMAND";
const command = process.env.MAPD_COMMAND || installed;

// How long the daemon may take to be there, when it is first asked.
const startTime = 15_000;

// What pi puts in the place of the result of a call that it dropped.
const skipped = "Skipped due to queued user message";

/** An error reply of mapd. */
class Refused extends Error {
  constructor(
    message: string,
    readonly data: any,
  ) {
    super(message);
  }
  get code(): string {
    return this.data?.code ?? "";
  }
}

/** mapd is not there, or went away before it answered. */
class Unreachable extends Error {}

type Notify = (method: string, params: any) => void;
type Waiting = { resolve: (result: any) => void; reject: (error: Error) => void };

/** One connection to the daemon: JSON-RPC, a message a line, through `mapd lsp`. */
class Connection {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private parts: string[] = [];
  private sent = 0;
  private why: Unreachable | undefined;

  constructor(private readonly notify: Notify) {
    this.child = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.child.on("error", (error) => this.end(error.message));
    this.child.on("exit", () => this.end("it has ended"));
    this.child.stdin!.on("error", (error) => this.end(error.message));
    this.child.stdout!.setEncoding("utf8");
    this.child.stdout!.on("data", (text: string) => this.take(text));
  }

  get ended(): boolean {
    return this.why !== undefined;
  }

  private end(why: string): void {
    this.why ??= new Unreachable(`mapd cannot be reached: ${why}`);
    for (const { reject } of this.waiting.values()) reject(this.why);
    this.waiting.clear();
  }

  private take(text: string): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.parts.push(text.slice(from, at));
      this.message(this.parts.join(""));
      this.parts = [];
      from = at + 1;
    }
    if (from < text.length) this.parts.push(text.slice(from));
  }

  private message(line: string): void {
    let m: any;
    try {
      m = JSON.parse(line);
    } catch {
      this.close("it sent no message");
      return;
    }
    if (m.method) {
      if (m.id === undefined) this.notify(m.method, m.params);
      return;
    }
    const waiting = this.waiting.get(m.id);
    if (!waiting) return; // its caller has given up
    this.waiting.delete(m.id);
    if (m.error) waiting.reject(new Refused(m.error.message, m.error.data));
    else waiting.resolve(m.result);
  }

  private send(message: object): void {
    this.child.stdin!.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  tell(method: string, params: object): void {
    if (!this.ended) this.send({ method, params });
  }

  ask(method: string, params: object, signal?: AbortSignal): Promise<any> {
    return new Promise((resolve, reject) => {
      if (this.why) return reject(this.why);
      if (signal?.aborted) return reject(new Error("Operation aborted"));
      const id = ++this.sent;
      const abort = () => {
        this.waiting.delete(id);
        this.tell("$/cancelRequest", { id });
        reject(new Error("Operation aborted"));
      };
      const done = () => signal?.removeEventListener("abort", abort);
      this.waiting.set(id, {
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      });
      signal?.addEventListener("abort", abort, { once: true });
      this.send({ id, method, params });
    });
  }

  close(why = "it was closed"): void {
    this.end(why);
    this.child.stdin!.end();
    this.child.kill();
  }
}

/** The session of the daemon. It is opened when it is needed, and again when it was lost. */
class Session {
  private opening: Promise<Connection> | undefined;
  private readonly folders: string[];

  constructor(
    cwd: string,
    private readonly name: string,
    private readonly notify: Notify,
  ) {
    this.folders = [rootOf(cwd)];
  }

  private async open(): Promise<Connection> {
    const connection = new Connection(this.notify);
    const late = setTimeout(() => connection.close("it does not answer"), startTime);
    const initialize = (session?: string) =>
      connection.ask("initialize", {
        clientInfo: { name: "pi" },
        workspaceFolders: this.folders.map(folder),
        initializationOptions: { umask: process.umask(), ...(session ? { session } : {}) },
      });
    try {
      await initialize(this.name).catch((error) => {
        // The daemon keeps so many named sessions; one without a name ends with its connection.
        if (error instanceof Refused && error.code === "server_busy") return initialize();
        throw error;
      });
    } catch (error) {
      connection.close();
      if (error instanceof Refused) throw new Unreachable(`mapd cannot be used: ${error.message}`);
      throw error;
    } finally {
      clearTimeout(late);
    }
    return connection;
  }

  async connect(): Promise<Connection> {
    const before = await this.opening?.catch(() => undefined);
    if (before && !before.ended) return before;
    return (this.opening = this.open());
  }

  /** Asks about a file, whose root joins the session if it lies outside of the others. */
  async ask(method: string, params: { path: string; [name: string]: unknown }, signal?: AbortSignal, again = false): Promise<any> {
    for (let attempt = 0; ; attempt++) {
      const connection = await this.connect();
      try {
        return await connection.ask(method, params, signal);
      } catch (error) {
        if (attempt >= 2 || signal?.aborted) throw error;
        if (error instanceof Refused && error.code === "shutting_down") {
          connection.close();
        } else if (error instanceof Refused && error.code === "outside_workspace" && this.join(connection, params.path)) {
          continue;
        } else if (!(error instanceof Unreachable && again && attempt === 0)) {
          throw error;
        }
      }
    }
  }

  private join(connection: Connection, path: string): boolean {
    const root = rootOf(dirname(path));
    if (this.folders.includes(root) || !existsSync(root)) return false;
    this.folders.push(root);
    connection.tell("workspace/didChangeWorkspaceFolders", { event: { added: [folder(root)], removed: [] } });
    return true;
  }

  async recover(turn: object): Promise<any> {
    return (await this.connect()).ask("mapd/recover", { turn });
  }

  close(): void {
    this.opening?.then((connection) => connection.close()).catch(() => undefined);
    this.opening = undefined;
  }
}

function folder(path: string): object {
  return { uri: pathToFileURL(path).href, name: path };
}

/** The nearest folder from dir upwards that holds .git, else dir. */
function rootOf(dir: string): string {
  for (let d = dir; ; d = dirname(d)) {
    if (existsSync(join(d, ".git"))) return d;
    if (d === dirname(d)) return dir;
  }
}

/** A path as models and people write it, made absolute. */
function absolute(path: string, cwd: string): string {
  let p = path.startsWith("@") ? path.slice(1) : path;
  if (p === "~" || p.startsWith("~/")) p = join(homedir(), p.slice(1));
  return isAbsolute(p) ? p : resolve(cwd, p);
}

/** One line for each range of lines that were shown and are not as they were. */
function staleText(stale: any): string {
  const head = stale.to === null ? `${stale.path}, of which you were shown lines, is gone:` : `Lines of ${stale.path} that you were shown are no longer as they were:`;
  const lines = stale.ranges.map((r: any) => `${r.served.start}-${r.served.end}: ${r.status}${r.now ? `, see ${r.now.start}-${r.now.end}` : ""}`);
  return [head, ...lines].join("\n");
}

const block = (text: string) => ({ type: "text" as const, text });
const staleBlocks = (result: any) => (result.stale ?? []).map((s: any) => block(staleText(s)));

/** What a model needs after an edit: the lines as they are now, with fresh anchors. */
function editText(r: any): string {
  const notes = [r.applied ? `Edited ${r.path}.` : `${r.path} has these lines already, nothing was written.`];
  for (const w of r.warnings ?? []) notes.push(`Warning: ${w}`);
  for (const m of r.rebased ?? []) notes.push(`${m.from} had moved to ${m.to}.`);
  for (const n of r.renumber ?? []) if (n.delta) notes.push(`Lines after ${n.after} of the old text: ${n.delta > 0 ? "+" : ""}${n.delta}.`);
  return [notes.join("\n"), ...(r.anchors ?? []).map((h: any) => h.text)].join("\n\n");
}

/** A unified diff in the form that pi shows: each line with its number. */
function shownDiff(unified: string): string {
  const out: string[] = [];
  let older = 0;
  let newer = 0;
  for (const line of unified.split("\n")) {
    const hunk = /^@@ -(\d+)\S* \+(\d+)/.exec(line);
    if (hunk) {
      if (newer > 0) out.push("    ...");
      older = Number(hunk[1]);
      newer = Number(hunk[2]);
    } else if (newer > 0 && /^[-+ ]/.test(line)) {
      const number = line[0] === "-" ? older : newer;
      if (line[0] !== "+") older++;
      if (line[0] !== "-") newer++;
      out.push(`${line[0]}${number} ${line.slice(1)}`);
    }
  }
  return out.join("\n");
}

/** Why an edit was rejected, with the affected lines as they are now. */
function rejection(error: Refused): string {
  const now: string = error.data?.reread?.text ?? "";
  const shown = now.split("\n").every((line) => line === "" || error.message.includes(line));
  return shown ? error.message : `${error.message}\n\nThese lines are now:\n\n${now}`;
}

const range = {
  type: "object",
  properties: { start: { type: "number" }, end: { type: "number" } },
  required: ["start", "end"],
};

const readParameters: any = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path to the file to read (relative or absolute)" },
    offset: { type: "number", description: "First line, from 1" },
    limit: { type: "number", description: "Number of lines" },
    ranges: { type: "array", items: range, description: "Ranges of lines to show, inclusive" },
    symbol: { type: "string", description: "Show the definition of this symbol: name or Type.name" },
    cursor: { type: "string", description: "Go on where a truncated read ended" },
    map: { type: "string", enum: ["auto", "always", "never", "only"], description: "The map of the file: auto shows it when a read is truncated" },
  },
  required: ["path"],
};

const editParameters: any = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path to the file to edit (relative or absolute)" },
    edits: {
      type: "array",
      description: "All are made, or none",
      items: {
        type: "object",
        properties: {
          op: { type: "string", enum: ["replace", "append", "prepend", "delete"] },
          pos: { type: "string", description: "Anchor LINE#HASH of the line, or of the first one. Without it append is at the end of the file, prepend at its start" },
          end: { type: "string", description: "Anchor of the last line of replace or delete, inclusive" },
          lines: { type: "array", items: { type: "string" }, description: "The new lines, without anchors" },
        },
        required: ["op"],
      },
    },
  },
  required: ["path", "edits"],
};

/** The first of several modules that is there: pi has had two names. */
async function firstModule(...names: string[]): Promise<any> {
  let failure: unknown;
  for (const name of names) {
    try {
      return await import(name);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

export default async function (pi: ExtensionAPI) {
  const own = await firstModule("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent");
  const tui = await firstModule("@earendil-works/pi-tui", "@mariozechner/pi-tui");

  let session: Session | undefined;
  let maps: any[] = []; // those of the turn that runs, in separate delivery
  let ownTools = false; // pi has its own read and edit, as mapd was not there

  pi.registerFlag("mapd-map", { description: "mapd: show maps inline or as separate messages", type: "string", default: "inline" });
  const separate = () => (pi.getFlag("mapd-map") ?? process.env.MAPD_PI_MAP) === "separate";

  const current = (ctx: ExtensionContext): Session => {
    const id = ctx.sessionManager?.getSessionId?.() ?? String(process.pid);
    session ??= new Session(ctx.cwd, `pi-${id}`, (method, params) => {
      if (method === "mapd/fileMap") maps.push(params);
    });
    return session;
  };

  const ownTool = (name: "Read" | "Edit", cwd: string): any => (own[`create${name}ToolDefinition`] ?? own[`create${name}Tool`])(cwd);

  /** Gives pi its own tools back, and says so in one line. */
  const giveUp = (why: Error, ctx: ExtensionContext): string => {
    pi.registerTool(ownTool("Read", ctx.cwd));
    pi.registerTool(ownTool("Edit", ctx.cwd));
    ownTools = true;
    const notice = `${why.message}; read and edit are pi's own now.`;
    if (ctx.hasUI) ctx.ui.notify(notice, "warning");
    else console.error(notice);
    return notice;
  };

  const read = {
    name: "read",
    label: "read",
    description:
      "Read a file, or parts of it by offset/limit, ranges or symbol. Lines are shown as LINE#HASH:content; LINE#HASH is the anchor that edit takes. " +
      "A file that is too large is truncated and comes with a map of all its symbols and their lines. Images are shown as images.",
    promptSnippet: "Read files, with anchors for edits and a map of large files",
    promptGuidelines: [
      "Use read to examine files instead of cat or sed.",
      "When read shows a map, read what you need by symbol or ranges instead of paging through the file.",
    ],
    parameters: readParameters,
    async execute(id: string, params: any, signal: AbortSignal | undefined, onUpdate: any, ctx: ExtensionContext): Promise<any> {
      const { map, ...rest } = params;
      const request = { ...rest, path: absolute(params.path, ctx.cwd), delivery: separate() ? "separate" : "inline", toolCallId: id, ...(map ? { map } : {}) };
      try {
        const result = await current(ctx).ask("mapd/read", request, signal, true);
        const content = [...result.content, ...staleBlocks(result)];
        return { content: content.length ? content : [block("[This file is empty.]")], details: { mapd: { path: result.path, snapshot: result.snapshot, ...result.details } } };
      } catch (error) {
        const images = error instanceof Refused && error.code === "binary_file";
        if (!images && !(error instanceof Unreachable)) throw error;
        const notice = images ? [] : [block(`[${giveUp(error as Error, ctx)} This is without anchors.]`)];
        const result = await ownTool("Read", ctx.cwd).execute(id, { path: params.path, offset: params.offset, limit: params.limit }, signal, onUpdate, ctx);
        return { ...result, content: [...result.content, ...notice] };
      }
    },
  };

  const edit = {
    name: "edit",
    label: "edit",
    description:
      "Edit a file by the anchors LINE#HASH that read showed: replace pos..end with lines, delete pos..end, append lines after pos, prepend lines before pos. " +
      "All edits of a call are made, or none. Lines that moved since you read them are followed. A rejected edit wrote nothing and shows the lines as they are now, with anchors for the next try.",
    promptSnippet: "Edit files by the anchors of lines that read showed",
    promptGuidelines: [
      "Copy the anchors of edit from what read or edit showed last; never make one up.",
      "Use one edit call with several entries in edits to change several places of one file.",
    ],
    parameters: editParameters,
    async execute(_id: string, params: any, signal: AbortSignal | undefined, _onUpdate: any, ctx: ExtensionContext): Promise<any> {
      const path = absolute(params.path, ctx.cwd);
      try {
        // A started edit is not given up: whether it was made would not be known.
        if (signal?.aborted) throw new Error("Operation aborted");
        const make = () => current(ctx).ask("mapd/edit", { path, edits: params.edits });
        const result = await (own.withFileMutationQueue ? own.withFileMutationQueue(path, make) : make());
        return { content: [block(editText(result)), ...staleBlocks(result)], details: { diff: shownDiff(result.diff), patch: result.diff, firstChangedLine: result.firstChangedLine, snapshot: result.snapshot } };
      } catch (error) {
        if (error instanceof Refused) throw new Error(rejection(error));
        if (error instanceof Unreachable) throw new Error(`${giveUp(error, ctx)} Whether this edit was made is not known: read the file first.`);
        throw error;
      }
    },
  };

  const takeOver = () => {
    pi.registerTool(read as any);
    pi.registerTool(edit as any);
    ownTools = false;
  };
  takeOver();

  /** A message of one line that opens to all of it. */
  const folded = (summary: (message: any) => string) => (message: any, options: { expanded: boolean }, theme: any) => {
    const text = options.expanded ? String(message.content) : summary(message);
    return new tui.Text(theme.fg(options.expanded ? "toolOutput" : "muted", text), 1, 0);
  };
  pi.registerMessageRenderer("file-map", folded((m) => m.details?.summary ?? "[File Map]"));
  pi.registerMessageRenderer("read-recovery", folded((m) => m.details?.summary ?? "[Interrupted reads]"));

  const mapMessage = (m: any) => ({ customType: "file-map", content: m.content, display: true, details: { ...m.details, summary: m.summary } });

  pi.registerCommand("map", {
    description: "Show the map of a file: /map PATH [full|compact|minimal|outline]",
    handler: async (args, ctx) => {
      const words = args.trim().split(/\s+/);
      const detail = words.length > 1 && /^(auto|full|compact|minimal|outline)$/.test(words[words.length - 1]) ? words.pop() : "auto";
      const path = words.join(" ");
      if (!path) return ctx.ui.notify("Usage: /map PATH [full|compact|minimal|outline]", "warning");
      try {
        const r = await current(ctx).ask("mapd/map", { path: absolute(path, ctx.cwd), detail, format: "text" }, undefined, true);
        const summary = `[File Map: ${r.details.symbolCount} symbols, ${r.details.totalLines} lines - Ctrl+O]`;
        pi.sendMessage(mapMessage({ content: r.text, details: r.details, summary }), { triggerTurn: false });
      } catch (error) {
        ctx.ui.notify((error as Error).message, "error");
      }
    },
  });

  pi.on("session_start", async (_event, ctx) => {
    session?.close();
    session = undefined;
    maps = [];
    try {
      await current(ctx).connect();
      if (ownTools) takeOver();
    } catch (error) {
      giveUp(error as Error, ctx);
    }
  });

  pi.on("session_shutdown", () => {
    session?.close();
    session = undefined;
  });

  pi.on("turn_end", async (event: any, ctx) => {
    await recover(event, ctx);
    const messages = maps.map(mapMessage);
    maps = [];
    if (messages.length === 0) return;
    // A message that is sent while tools run would cancel the calls beside it in
    // some versions of pi, so maps wait for the end of the turn.
    if (Array.isArray(event.entries)) return { entries: [...event.entries, ...messages.map((m) => ({ type: "custom_message" as const, ...m }))] };
    for (const m of messages) pi.sendMessage(m, { triggerTurn: false });
  });

  /** Asks for the reads again that pi dropped because the user had something to say. */
  const recover = async (event: any, ctx: ExtensionContext): Promise<void> => {
    const results = event.toolResults ?? [];
    if (!JSON.stringify(results).includes(skipped)) return;
    const calls = (event.message?.content ?? []).filter((c: any) => c.type === "toolCall");
    try {
      const found = await current(ctx).recover({
        toolCalls: calls.map((c: any) => ({ id: c.id, name: c.name, arguments: c.arguments })),
        toolResults: results.map((r: any) => ({ toolCallId: r.toolCallId, toolName: r.toolName, isError: r.isError, content: r.content })),
      });
      if (!found.message) return;
      const { customType, content, display, details } = found.message;
      pi.sendMessage({ customType, content, display, details: { ...details, summary: found.summary } }, { deliverAs: "followUp", triggerTurn: true });
    } catch (error) {
      if (ctx.hasUI) ctx.ui.notify(`mapd: interrupted reads are not known: ${(error as Error).message}`, "warning");
    }
  };
}
