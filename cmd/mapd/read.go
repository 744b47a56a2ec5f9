package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

func (a *app) readCommand() *cobra.Command {
	var (
		symbol    string
		mapMode   string
		cursor    string
		noAnchors bool
		maxLines  int
		maxBytes  int
	)
	cmd := &cobra.Command{
		Use:   "read FILE[:A-B[,C-D]]",
		Short: "Show a file, truncated to a budget, with a map of the whole",
		Example: "  mapd read main.go\n" +
			"  mapd read main.go:10-20,40-60\n" +
			"  mapd read server.ts --symbol Server.listen",
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := parseTarget(args[0])
			if err != nil {
				return &usageError{err}
			}
			anchors := !noAnchors
			p := wire.ReadParams{URI: fileURI(t.path), Ranges: t.ranges, Symbol: symbol, Cursor: cursor, Map: mapMode, Anchors: &anchors}
			if cmd.Flags().Changed("max-lines") {
				p.MaxLines = &maxLines
			}
			if cmd.Flags().Changed("max-bytes") {
				p.MaxBytes = &maxBytes
			}
			return a.call(cmd.Context(), t.roots, wire.MethodRead, p, a.painted(printRead, screen.paintAnchor))
		},
	}
	f := cmd.Flags()
	f.StringVar(&symbol, "symbol", "", "show the definition of this symbol (`name` or Container.name)")
	f.StringVar(&cursor, "cursor", "", "go on where a truncated read ended")
	f.StringVar(&mapMode, "map", wire.MapAuto, "show the map: `auto`, always, never or only")
	f.BoolVar(&noAnchors, "no-anchors", false, "show lines without LINE#HASH:")
	f.IntVar(&maxLines, "max-lines", wire.DefaultMaxLines, "show at most this `number` of lines")
	f.IntVar(&maxBytes, "max-bytes", wire.DefaultMaxBytes, "show at most this `number` of bytes")
	cmd.ValidArgsFunction = firstFile
	completeFlag(cmd, "symbol", a.symbolOfFile)
	completeFlag(cmd, "map", oneOf(wire.MapAuto, "always", "never", "only"))
	return cmd
}

func (a *app) mapCommand() *cobra.Command {
	var detail string
	var maxBytes int
	cmd := &cobra.Command{
		Use:     "map FILE",
		Short:   "Show the structure of a file",
		Example: "  mapd map main.go\n  mapd map main.go --detail outline",
		Args:    usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := parseFile(args[0])
			if err != nil {
				return err
			}
			p := wire.MapParams{URI: fileURI(t.path), Detail: detail}
			if cmd.Flags().Changed("max-bytes") {
				p.MaxBytes = &maxBytes
			}
			return a.call(cmd.Context(), t.roots, wire.MethodMap, p, a.painted(printMap, screen.paintRange))
		},
	}
	f := cmd.Flags()
	f.StringVar(&detail, "detail", "auto", "level of `detail`: auto, full, compact, minimal, outline or truncated")
	f.IntVar(&maxBytes, "max-bytes", wire.DefaultMapMaxBytes, "print at most this `number` of bytes")
	cmd.ValidArgsFunction = firstFile
	completeFlag(cmd, "detail", oneOf("auto", "full", "compact", "minimal", "outline", "truncated"))
	return cmd
}

// painted is print with its lines painted as stdout allows.
func (a *app) painted(print func(io.Writer, []byte) error, paint func(screen, string) string) func(io.Writer, []byte) error {
	return func(w io.Writer, result []byte) error {
		s := a.screenOf(w)
		return print(s.writer(w, func(line string) string { return paint(s, line) }), result)
	}
}

// call asks the daemon, which it starts if none runs, and prints the result:
// as on the wire with --json, else through print.
func (a *app) call(ctx context.Context, roots []folder, method string, params any, print func(io.Writer, []byte) error) error {
	c, err := a.connect(ctx, roots)
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := c.CallRaw(ctx, method, params)
	if err != nil {
		return a.failed(err)
	}
	if a.json {
		if _, err := fmt.Fprintf(a.stdout, "%s\n", result); err != nil {
			return err
		}
		return print(io.Discard, result)
	}
	return print(a.stdout, result)
}

// failed reports an error reply; with --json its object goes to stdout as well.
func (a *app) failed(err error) error {
	var wired *wire.Error
	if a.json && errors.As(err, &wired) {
		if err := a.printJSON(wired.Object()); err != nil {
			return err
		}
	}
	return callError(err)
}

// connect opens a session with these roots as its folders, and starts a daemon
// for it if none runs.
func (a *app) connect(ctx context.Context, roots []folder) (*client.Client, error) {
	return a.open(ctx, client.Options{Start: true, Getenv: a.getenv}, roots)
}

// connectAny opens a session without folders with the daemon that runs, which
// may be of another build: to see it or to end it.
func (a *app) connectAny(ctx context.Context) (*client.Client, error) {
	return a.open(ctx, client.Options{AnyBuild: true, Getenv: a.getenv}, nil)
}

func (a *app) open(ctx context.Context, opt client.Options, roots []folder) (*client.Client, error) {
	printWarnings(a.stderr, a.conf.warnings)
	for _, root := range roots {
		a.conf.warnProject(a.stderr, root.path)
	}
	c, err := client.Dial(ctx, opt)
	if err != nil {
		return nil, err
	}
	p := wire.InitializeParams{ClientInfo: &wire.ClientInfo{Name: "mapd-cli"}}
	p.Options.Session = a.session
	p.Options.Umask = &a.umask
	for _, root := range roots {
		p.WorkspaceFolders = append(p.WorkspaceFolders, wire.WorkspaceFolder{URI: fileURI(root.path), Name: root.path, Bare: root.bare, Large: root.large})
	}
	if _, err := c.Initialize(ctx, p); err != nil {
		return nil, errors.Join(a.failed(err), c.Close())
	}
	return c, nil
}

// printRead prints the content blocks, with an empty line between two.
func printRead(w io.Writer, result []byte) error {
	var r wire.ReadResult
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	var out []string
	for _, c := range r.Content {
		out = append(out, c.Text)
	}
	if len(out) == 0 {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(out, "\n\n")+"\n")
	return err
}

func printMap(w io.Writer, result []byte) error {
	var r wire.MapResult
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, *r.Text)
	return err
}
