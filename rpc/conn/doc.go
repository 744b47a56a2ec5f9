// Package conn serves one JSON-RPC 2.0 connection and keeps its peer from
// harming anybody else.
//
// The engine is go.lsp.dev/jsonrpc2: its Conn owns the read loop, the hand-over
// of the loop to a successor when a handler goes async, and the drain at the
// end. Everything that the engine leaves to luck is settled in the Stream below
// it and the handler above it: framing, limits, syntax, ids, slots, order,
// cancellation, disconnects and what happens to a reply that cannot leave.
//
// Guarantees:
//
//   - One reply for each call, in the framing the peer opened with. No error
//     reply has code 0. A frame that is not a message is answered here and the
//     connection lives; one that loses the frame boundary is answered and ends
//     the connection.
//   - Serial methods and all notifications run in wire order on the read loop;
//     every other call takes a slot or is refused at once.
//   - Reply.Queued runs before the frame is queued, Reply.Withdraw if and only
//     if the frame did not leave completely, notifications in Reply.After follow
//     the reply directly or are dropped with it.
//   - Memory and goroutines are bounded by Limits whatever the peer does, also
//     when it never reads. Nothing here waits for the peer except the one
//     goroutine that drains its outgoing queue.
//   - After Done no goroutine and no descriptor of the connection is left.
//
// Where it ends: bytes in the kernel buffer of a peer that died count as
// delivered, and a handler that ignores its context holds up Done.
package conn
