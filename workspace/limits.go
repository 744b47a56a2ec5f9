package workspace

import (
	"context"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/store"
	"mapd/workspace/watch"
)

// Limits bound what a Cache holds and does. The zero value of a field means
// its value in DefaultLimits.
type Limits struct {
	FileBytes     int64         // size of the largest file that is read
	ReadBytes     int64         // bytes of all reads in flight; further reads wait
	OpenFiles     int           // files that are read at once; further reads wait
	HistoryBytes  int64         // memory of versions kept by digest
	OutlineBytes  int64         // memory of outlines kept by digest and language
	DirEntries    int           // names shown in the listing of a directory
	DirScan       int           // names read to choose and sort those
	FailedOutline time.Duration // how long an outline that hit a limit is remembered
	IndexFiles    int           // files in the index of one workspace
	IndexBytes    int64         // memory of the names in the index of one workspace
	ScanBytes     int64         // bytes of files that scans keep until their outlines are made
	DirtyPaths    int           // changed paths that wait to be looked at; past it everything is
	WatchStreams  int           // workspaces that are watched at once; the others are swept
	Watches       int           // directories that are watched, in all workspaces
	Sweep         time.Duration // how often a tree is scanned while its changes are not reported, at least
	Audit         time.Duration // how often all files are read again though nothing was reported
}

// DefaultLimits returns the limits of a daemon that was not told otherwise.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:     256 << 20,
		ReadBytes:     1 << 30,
		OpenFiles:     256,
		HistoryBytes:  256 << 20,
		OutlineBytes:  128 << 20,
		DirEntries:    1000,
		DirScan:       20_000,
		FailedOutline: 10 * time.Minute,
		IndexFiles:    200_000,
		IndexBytes:    256 << 20,
		ScanBytes:     64 << 20,
		DirtyPaths:    100_000,
		// Systems give a user 128 instances of watches, which all programs share,
		// and from 8,192 to a million watches.
		WatchStreams: 48,
		Watches:      100_000,
		Sweep:        10 * time.Second,
		Audit:        10 * time.Minute,
	}
}

// orDefault returns l with DefaultLimits in the fields that are not positive.
func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ v, d *int64 }{
		{&l.FileBytes, &d.FileBytes}, {&l.ReadBytes, &d.ReadBytes},
		{&l.HistoryBytes, &d.HistoryBytes}, {&l.OutlineBytes, &d.OutlineBytes}, {&l.IndexBytes, &d.IndexBytes},
		{&l.ScanBytes, &d.ScanBytes},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	for _, f := range []struct{ v, d *int }{
		{&l.OpenFiles, &d.OpenFiles}, {&l.DirEntries, &d.DirEntries}, {&l.DirScan, &d.DirScan},
		{&l.IndexFiles, &d.IndexFiles}, {&l.DirtyPaths, &d.DirtyPaths},
		{&l.WatchStreams, &d.WatchStreams}, {&l.Watches, &d.Watches},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	for _, f := range []struct{ v, d *time.Duration }{
		{&l.FailedOutline, &d.FailedOutline}, {&l.Sweep, &d.Sweep}, {&l.Audit, &d.Audit},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	// The line index of a text counts in 32 bits.
	l.FileBytes = min(l.FileBytes, 1<<32-2)
	return l
}

// An Extractor makes outlines. An *outline.Extractor is one.
type Extractor interface {
	// Extract returns the outline of text; an error is ctx's.
	Extract(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error)
}

// A Store keeps values that are functions of their keys. What it returns is what
// was put, or nothing. A *store.Store is one.
type Store interface {
	Get(store.Key) (value []byte, ok bool)
	Put(k store.Key, value []byte)
}

// Options configure a Cache.
type Options struct {
	Limits Limits
	// Outlines makes the outlines. Without it every Outline fails.
	Outlines Extractor
	// Epoch is the first half of every snapshot string: 16 hexadecimal digits
	// that no other daemon has. It is made at random when empty.
	Epoch string
	// Journal is a directory of the user in which a daemon notes where it
	// writes, so that after it was killed the next one, in NewCache, removes its
	// temporary files. Several daemons may share it. Empty: only a later write
	// into the same directory removes them.
	Journal string

	// Version names all that an outline follows from beside bytes and language:
	// the program that Outlines is of, and its options. Without it nothing is kept
	// in Store and Shelf.
	Version string
	// Store keeps outlines while no daemon runs; nil keeps none.
	Store Store
	// Shelf keeps the names of workspaces while no daemon runs; nil keeps none.
	Shelf Shelf

	// Watch starts the generations of watches of workspaces; default
	// watch.System.
	Watch watch.Source

	// Settings are the user's, for the files below every root.
	Settings Settings
	// Project reads the SettingsFile of a root, which came with the project and is
	// not trusted. It is called when the file appeared or changed, also by several
	// goroutines at once. Nil: such files do not count.
	Project func(file string, text []byte) Settings

	// source is the file system; tests put faults into it.
	source source
}
