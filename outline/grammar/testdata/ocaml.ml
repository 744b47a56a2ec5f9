(* A small store with a functor and classes. *)
open Printf
open! List
include Map_intf

#directory "lib"

(** The version of the format. *)
let version = "1.0"

let limit, margin = (100, 5)

type key = string

type color =
  | Red
  | Green of int
  | Blue of { r : int; g : int }

type 'a tree =
  | Leaf
  | Node of 'a tree * 'a * 'a tree

(** A point in the plane. *)
type point = {
  x : float;
  mutable y : float;  (* may change *)
}

and shape = Circle of point * float | Square of point

type t = ..
type t += Extra of int

exception Not_found_in of string
exception Empty

external sin_fast : float -> float = "caml_sin_fast" [@@unboxed]

module type ORDERED = sig
  type t

  val compare : t -> t -> int
  val default : t
  exception Bad of t
end

module type STORE = sig
  include ORDERED
  module Key : ORDERED

  type 'a table

  val find : Key.t -> 'a table -> 'a option
  val iter : f:('a -> unit) -> 'a table -> unit
end

(** Makes a store. *)
module Make (Ord : ORDERED) : sig
  type elt

  val empty : elt list
end = struct
  type elt = Ord.t

  let empty = []

  let add x list =
    let rec insert = function
      | [] -> [ x ]
      | head :: rest when Ord.compare x head > 0 -> head :: insert rest
      | rest -> x :: rest
    in
    insert list
end

module Int_store = Make (struct
  type t = int

  let compare = Stdlib.compare
  let default = 0

  exception Bad of t
end)

module Alias = Stdlib.List

module rec Even : sig
  val check : int -> bool
end = struct
  let check n = n = 0 || Odd.check (n - 1)
end

and Odd : sig
  val check : int -> bool
end = struct
  let check n = n <> 0 && Even.check (n - 1)
end

let rec size = function
  | Leaf -> 0
  | Node (left, _, right) -> size left + 1 + size right

let rec even n = n = 0 || odd (n - 1)
and odd n = n <> 0 && even (n - 1)

(** Adds with a label. *)
let add ?(start = 0) ~by x = start + by + x

let ( +: ) a b = add ~by:a b
let ( let* ) m f = Option.bind m f
let square = fun x -> x * x
let compose f g x = f (g x)

let () = printf "%s\n" version

let _unused = 3

class virtual shape_class (name : string) =
  object (self)
    val mutable area = 0.0
    val name = name
    method virtual draw : unit -> unit
    method name = name
    method private set_area a = area <- a
    method describe =
      let prefix = "shape " in
      prefix ^ self#name
    initializer printf "made %s\n" name
  end

class circle radius =
  object
    inherit shape_class "circle"
    method draw () = printf "circle %f\n" radius
  end

class type drawable = object
  method draw : unit -> unit
end

let process items =
  let helper x = x + 1 in
  let total = ref 0 in
  for i = 0 to List.length items - 1 do
    total := helper i
  done;
  !total

let%test "size" = size Leaf = 0

let main () =
  match Sys.argv with
  | [| _; name |] -> printf "hello %s\n" name
  | _ -> exit 1
