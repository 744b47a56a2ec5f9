package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/sandbox"
	"mapd/outline/symbol"
)

// checkWorkers starts a worker process and lets it parse a line.
func checkWorkers(ctx context.Context, opt *Options) []Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	options := opt.Outline.Sandbox()
	options.Workers = 1
	pool := sandbox.NewPool(options)
	start := time.Now()
	o, err := outline.New(outline.Options{Limits: opt.Outline, Pool: pool, Log: slog.New(slog.DiscardHandler)}).Extract(ctx, outline.Python, hashline.NewText([]byte("def here(): pass\n")))
	took := time.Since(start).Round(time.Millisecond)
	if err == nil && (o.Source != symbol.Parser || len(o.Symbols) != 1) {
		err = fmt.Errorf("one line of Python has %d symbols by %s (%s)", len(o.Symbols), o.Source, o.Why)
	}
	if err = errors.Join(err, pool.Close()); err != nil {
		return []Finding{problem("a worker process does not work: "+err.Error(),
			"see that processes may be started, that "+procSelf+" can be run, and that the limit of memory (ulimit -d) leaves room; until then files have outlines by line patterns")}
	}
	return []Finding{ok(fmt.Sprintf("a worker started and parsed in %v", took))}
}

// procSelf is what workers are started from.
const procSelf = "/proc/self/exe"
