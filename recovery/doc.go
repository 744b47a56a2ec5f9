// Package recovery keeps what was delivered to whom, and judges from it what an
// agent says afterwards: whether an anchor still names the line it was shown,
// which of the lines it holds went stale, and which of its reads never arrived.
//
// Its parts are
//
//   - Ledgers and Ledger: per session, which lines of which versions of which
//     files left in a reply. A ledger never claims a line that was not
//     delivered: what is recorded before a reply is queued is withdrawn if the
//     reply never left;
//   - Lineage: what edits through the daemon did to a file, exactly;
//   - Scene: verdicts on anchors and ranges against one live text, with the
//     proof of hashline.LineMap and nothing else; it also renders what the next
//     try of the agent needs;
//   - News and Known: which delivered lines are no longer as they were, each said
//     once, and what a session holds after that. The cost is that of the lines
//     and of the change, not of the versions that were delivered;
//   - Reads and Turn: reads that never arrived, by the daemon's own record or by
//     the transcript of an agent's turn.
//
// The package imports hashline alone and does no I/O: files, clocks and
// connections belong to its callers. Texts of versions are asked for by their
// snapshot string; a version that is no longer kept makes the lines delivered
// from it count as never delivered, which refuses more and accepts nothing
// wrong.
//
// Where its promises end: an anchor that was never delivered is accepted on the
// word of its hash, which a line has by chance once in 65,536, or once in 256 at
// two letters; the verdict says NeverServed then. And a reply that reached the
// peer's socket counts as delivered, though nobody may have read it.
package recovery
