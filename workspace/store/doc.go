// Package store keeps what was made of files on disk, so that it need not be
// made again after the daemon was restarted: outlines by what they follow from,
// and a blob of names for each workspace.
//
// It is a cache. Whatever is missing, damaged, cut short, locked by another
// daemon, too much for the disk or removed while it is open is a miss, which
// costs time; it is never a wrong value, a failure of the caller or of the
// process. Every value is bound to its key by a checksum.
//
// Outlines lie in one file of bbolt. Values are found by a digest of their key,
// and lie in the order in which they were put, so that puts append and touch
// few pages, and the oldest are the first to go when the file reaches its limit.
//
// bbolt trusts its file: it maps it into memory and follows its pages, where a
// file that is cut short is a SIGBUS and a circle of pages ends the process.
// Therefore the structure is proven with plain reads before bbolt sees the file
// (verify); a file that another program has touched since is not used any more;
// and what is left of the race between the two, a fault in the mapped memory, is
// a panic that is caught.
//
// Nothing is synced to disk: the kernel keeps what was written when a daemon is
// killed, and after a power failure the proof and the checksums tell what was
// lost. Syncs would make indexing wait for the disk for the sake of a cache.
package store
