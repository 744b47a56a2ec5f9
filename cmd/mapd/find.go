package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mapd/rpc/wire"
)

func (a *app) findCommand() *cobra.Command {
	var p wire.FindParams
	var limit int
	cmd := &cobra.Command{
		Use:   "find QUERY",
		Short: "Find symbols by their names, or lines by their text",
		Long: "Find symbols in the repository of the current directory by their names (whole, the start, a few letters,\n" +
			"Container.name), and if there are none the lines with QUERY. Lower-case letters match both cases.\n" +
			"Prints PATH:LINE#HASH, the kind and name of the symbol there, and the line. Exits with 1 if nothing was found.",
		Example: "  mapd find NewServer\n" +
			"  mapd find server.stop --kind method\n" +
			"  mapd find 'func \\w+Handler' --regexp --path 'rpc/**/*.go'",
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Query = args[0]
			if cmd.Flags().Changed("limit") {
				p.Limit = &limit
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			root := rootOf(dir)
			found := 0
			err = a.call(cmd.Context(), []folder{root}, wire.MethodFind, p, func(w io.Writer, result []byte) error {
				var r wire.FindResult
				if err := json.Unmarshal(result, &r); err != nil {
					return err
				}
				found = len(r.Results)
				a.remarkFind(r)
				s := a.screenOf(w)
				return printFind(s.writer(w, s.paintHit), r, root.path, dir)
			})
			if err == nil && found == 0 {
				fmt.Fprintln(a.stderr, "mapd: nothing was found")
				return errReported
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.Mode, "mode", wire.FindAuto, "search `auto`, symbol or text")
	f.StringVar(&p.Kind, "kind", "", "find only symbols of this `kind`, such as function, method or class")
	f.StringVar(&p.Path, "path", "", "search only files that this `glob` matches, such as '*.go' or 'src/**'")
	f.BoolVar(&p.Regexp, "regexp", false, "QUERY is a regular expression")
	completeFlag(cmd, "mode", oneOf(wire.FindAuto, wire.FindSymbol, wire.FindText))
	cmd.ValidArgsFunction = a.symbolOfRoot
	f.IntVar(&limit, "limit", wire.DefaultFindLimit, "print at most this `number` of results")
	return cmd
}

// printFind prints a line for each hit, with paths relative to dir. root is the
// folder that the paths of the result are relative to.
func printFind(w io.Writer, r wire.FindResult, root, dir string) error {
	for _, h := range r.Results {
		path := h.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
		}
		symbol := ""
		if h.Name != "" {
			symbol = " " + h.Kind + " " + h.Name
		}
		if h.Container != "" {
			symbol += " in " + h.Container
		}
		if _, err := fmt.Fprintf(w, "%s:%s%s: %s\n", path, h.Anchor, symbol, strings.TrimLeft(h.Text, " \t")); err != nil {
			return err
		}
	}
	return nil
}

// remarkFind says on stderr what a result lacks.
func (a *app) remarkFind(r wire.FindResult) {
	for _, d := range r.Degraded {
		fmt.Fprintf(a.stderr, "mapd: %s: %s\n", d.Root, d.Why)
	}
	if r.Truncated {
		fmt.Fprintf(a.stderr, "mapd: these are the first %d; narrow the search with --path or --kind, or raise --limit\n", len(r.Results))
	}
}
