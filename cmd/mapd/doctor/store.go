package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"mapd/workspace/store"
)

// checkStore looks through what is kept between daemons, unless one uses it.
func checkStore(_ context.Context, opt *Options) []Finding {
	if opt.Store == "" {
		return []Finding{problem("neither XDG_CACHE_HOME nor HOME is set, so nothing is kept between daemons", "set HOME")}
	}
	dir := filepath.Dir(opt.Store)
	if at, err := makeable(dir); err != nil {
		return []Finding{problem(fmt.Sprintf("nothing can be kept between daemons: %s: %v", at, err), fmt.Sprintf("make %q writable for you, or set XDG_CACHE_HOME", at))}
	}
	r := store.Check(opt.Store)
	const mend = "run 'mapd stop' and 'mapd doctor --repair': what is lost is made again"
	var out []Finding
	switch {
	case r.State == store.Locked:
		return []Finding{ok(opt.Store + " is in use by a daemon")}
	case r.State == store.Unusable && !r.Broken:
		out = append(out, problem(fmt.Sprintf("%s cannot be used: %s", opt.Store, r.Why), fmt.Sprintf("remove it: rm %q", opt.Store)))
	case r.Broken:
		out = append(out, problem(fmt.Sprintf("%s is damaged: %s", opt.Store, r.Why), mend))
	case r.Damaged > 0:
		out = append(out, problem(fmt.Sprintf("%s has %d damaged values of %d", opt.Store, r.Damaged, r.Entries), mend))
	}
	count, bytes, bad, err := opt.Blobs.Check()
	switch {
	case err != nil:
		out = append(out, problem(fmt.Sprintf("%s cannot be read: %v", opt.Blobs.Dir, err), fmt.Sprintf("make %q readable for you", opt.Blobs.Dir)))
	case len(bad) > 0:
		out = append(out, problem(fmt.Sprintf("%d of %d files in %s are damaged", len(bad), count, opt.Blobs.Dir), mend))
	}
	if len(out) > 0 {
		return out
	}
	if r.Missing {
		return []Finding{ok(opt.Store + ", nothing is kept yet")}
	}
	return []Finding{ok(fmt.Sprintf("%s, %d outlines of %.1f MiB, %d workspaces of %.1f MiB", opt.Store, r.Entries, mebi(r.Bytes), count, mebi(bytes)))}
}

func mebi(n int64) float64 { return float64(n) / (1 << 20) }
