package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

func (a *app) indexCommand() *cobra.Command {
	var large bool
	cmd := &cobra.Command{
		Use:   "index [DIR]",
		Short: "Index a directory and wait until that is done",
		Long: "Index the repository that DIR lies in, or DIR itself if it lies in none, and wait until that is done.\n" +
			"The daemon then keeps the index up to date by itself, as long as a session uses it and some time longer.",
		Example: "  mapd index\n  mapd index ../other",
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			dir, err := filepath.Abs(dir)
			if err == nil {
				err = mustBeDir(dir)
			}
			if err != nil {
				return err
			}
			root := folder{path: rootOf(dir).path, large: large}
			c, err := a.connect(cmd.Context(), []folder{root})
			if err != nil {
				return err
			}
			defer c.Close()
			return a.index(cmd.Context(), c, root.path)
		},
	}
	cmd.ValidArgsFunction = directories
	cmd.Flags().BoolVar(&large, "large", false, "index even the home directory or /")
	return cmd
}

func mustBeDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is no directory", path)
	}
	return err
}

// indexPoll is how often the daemon is asked how far it is.
const indexPoll = 50 * time.Millisecond

// index waits until the root is indexed, shows how far it is, and prints what
// came of it.
func (a *app) index(ctx context.Context, c *client.Client, dir string) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	show := newProgress(a.stderr)
	defer show.end()
	ticker := time.NewTicker(indexPoll)
	defer ticker.Stop()
	for {
		ws, err := workspaceOf(ctx, c, root)
		if err != nil {
			return err
		}
		if ws.State != "indexing" && ws.Indexed == ws.Files { // a degraded one has outlines to make too
			show.end()
			return a.indexed(ws)
		}
		show.at(ws.Indexed, ws.Files)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func workspaceOf(ctx context.Context, c *client.Client, root string) (*wire.WorkspaceStatus, error) {
	var status wire.StatusResult
	if err := c.Call(ctx, wire.MethodStatus, struct{}{}, &status); err != nil {
		return nil, callError(err)
	}
	for _, ws := range status.Workspaces {
		if ws.Root == root {
			return &ws, nil
		}
	}
	return nil, fmt.Errorf("the daemon does not know %q; is its directory still there?", root)
}

// indexed prints the outcome.
func (a *app) indexed(ws *wire.WorkspaceStatus) error {
	if a.json {
		if err := a.printJSON(ws); err != nil {
			return err
		}
	}
	if ws.Generation == 0 {
		return errors.New(ws.Why)
	}
	if !a.json {
		fmt.Fprintf(a.stdout, "%q: %d files indexed, %d skipped\n", ws.Root, ws.Files, ws.Skipped)
	}
	if ws.Why != "" {
		fmt.Fprintf(a.stderr, "mapd: the index is degraded, changes are looked for every %v: %s\n", time.Duration(ws.SweepMs)*time.Millisecond, ws.Why)
	}
	return nil
}

// progress shows how many of some files are done: a bar on a terminal, else a
// line now and then.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil without a terminal
	total int
	last  time.Time // of the last line
}

// progressEvery is how often a line is written where there is no terminal.
const progressEvery = time.Second

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, last: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(out), progressbar.OptionSetDescription("indexing"),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	return p
}

// at shows that done of total files are done; 0 of 0 while they are counted.
func (p *progress) at(done, total int) {
	switch {
	case p.bar != nil:
		if total != p.total {
			p.bar.ChangeMax(total)
			p.total = total
		}
		_ = p.bar.Set(done) // what a terminal does not take is not worth an error
	case time.Since(p.last) >= progressEvery:
		p.last = time.Now()
		fmt.Fprintf(p.out, "mapd: indexing, %d of %d files\n", done, total)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
