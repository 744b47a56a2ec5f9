/// <reference types="node" />
// The store of the application.
import fs from "node:fs";
import { readFile, type Stats } from "node:fs/promises";
import type { Item } from "./types";
import * as path from "path";
import "./polyfill";
import legacy = require("legacy");
import Alias = Namespace.Inner;
export * from "./reexported";
export { one, two as three } from "./listed";

/** The version of the format. */
export const VERSION = "1.2.3";
const a = 1,
  b = () => 2,
  c: number = 3;
let state: Map<string, { open: boolean }> = new Map();
var legacyVariable;
declare const injected: string;
declare let ambient: number;
const { left, right: { deep }, ...others } = legacy;
const [first, , third = 3] = [1, 2];

export type Id = string | number;
type Callback<T = void> = (error: Error | null, value?: T) => void;

/** A shape of data. */
export type Shape = {
  kind: "circle" | "square";
  readonly size?: number;
  area(): number;
  nested: { hidden: boolean };
};

/**
 * Anything with a name.
 * @public
 */
export interface Named<T extends object = {}> extends Base, Other<T> {
  name: string;
  readonly id?: Id;
  "quoted-key": boolean;
  greet(this: Named, other: string): void;
  greet(other: number): void;
  optional?(): string;
  callback: (x: number) => void;
  get size(): number;
  (call: string): number;
  new (construct: string): Named;
  [index: string]: unknown;
  [Symbol.iterator](): Iterator<T>;
}

export enum Color {
  Red,
  Green = "green",
  Blue = 1 << 2,
  "quoted-member" = 4,
}

declare const enum Flags {
  None = 0,
  All = ~0,
}

export function overloaded(value: string): string;
export function overloaded(value: number): number;
export function overloaded(value: unknown): unknown {
  function inner<T>(x: T): T {
    const arrow = (y: T) => y;
    return arrow(x);
  }
  class Local {
    method() {}
  }
  return inner(value);
}

export async function* stream({ url = "/" }: { url?: string } = {}): AsyncGenerator<string> {
  yield url;
}

@Component({
  selector: "app",
  factory: () => new Service(),
})
@Injectable()
export class Service<T = any> extends Parent<T> implements Named, Disposable {
  static count = 0;
  private readonly cache = new Map<string, T>();
  protected declare typed: string;
  #secret = 42;
  handler = (event: Event): void => {
    const nested = () => event;
  };
  options = { deep() {}, value: 1 };
  @Input() label!: string;

  static {
    const setup = () => {};
    setup();
  }

  // Makes a service.
  constructor(private http: Client, public readonly name: string = "x") {
    super();
  }

  get size(): number {
    return this.cache.size;
  }

  set size(value: number) {}

  /** Loads it. */
  @Memoize()
  async load<K extends keyof T>(
    key: K,
    options?: { force: boolean },
  ): Promise<T[K]> {
    return this.fetch(() => key);
  }

  protected abstract missing(): void;
  private static create(): Service {
    return new Service(null!);
  }
  *generate() {}
  async *[Symbol.asyncIterator]() {}
  "quoted method"() {}
  #hidden() {}
  overload(x: string): void;
  overload(x: number): void;
  overload(x: any) {}
}

export abstract class Abstract {
  abstract value: string;
  abstract run(): void;
}

namespace Outer.Inner {
  export const constant = 1;
  export function exported() {}
  namespace Deep {
    interface Hidden {}
  }
}

declare module "external" {
  export function imported(): void;
  export default class External {}
  global {
    interface Window {
      store: Service;
    }
  }
}

declare global {
  var __DEV__: boolean;
}

declare function declared(x: number): string;

export default function () {
  return overloaded;
}

export const api = {
  get: async (id: Id) => id,
  post(body: unknown) {},
  put: function named() {},
  nested: {
    remove: () => {},
  },
  get lazy() {
    return 1;
  },
};

if (VERSION) {
  var conditional = true;
  function inCondition() {}
}
for (const item of []) {
  const inLoop = () => item;
}
const wrapped = memo(function Wrapped() {});
const casted = <T>(x: T) => x as any;
export { state, a as renamed };
