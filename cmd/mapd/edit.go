package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mapd/rpc/wire"
)

func (a *app) checkCommand() *cobra.Command {
	var snapshot string
	cmd := &cobra.Command{
		Use:   "check FILE ANCHOR...",
		Short: "Say whether anchors still name the lines that were shown",
		Long: "Say of each anchor whether it still names the line that was shown: current, moved, changed, deleted,\n" +
			"ambiguous, never_served or bad_hash. The exit code is 1 unless all are current.\n" +
			"What was shown is known per --session: give the same name to read and to check.",
		Example: "  mapd --session me read main.go\n  mapd --session me check main.go 42#VRTX",
		Args:    usage(cobra.MinimumNArgs(2)), ValidArgsFunction: firstFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := parseFile(args[0])
			if err != nil {
				return err
			}
			p := wire.CheckParams{URI: fileURI(t.path), Anchors: args[1:], Snapshot: snapshot}
			fresh := false
			err = a.call(cmd.Context(), t.roots, wire.MethodCheck, p, func(w io.Writer, result []byte) error {
				var r wire.CheckResult
				if err := json.Unmarshal(result, &r); err != nil {
					return err
				}
				fresh = r.Fresh
				return printCheck(w, r)
			})
			if err == nil && !fresh {
				return errReported
			}
			return err
		},
	}
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "take the anchors for those of this `version`")
	return cmd
}

func printCheck(w io.Writer, r wire.CheckResult) error {
	for _, c := range r.Results {
		now := ""
		if c.Now != "" {
			now = " " + c.Now
		}
		if _, err := fmt.Fprintf(w, "%s %s%s\n", c.Anchor, c.Status, now); err != nil {
			return err
		}
	}
	if r.Reread != nil {
		_, err := fmt.Fprintf(w, "\n%s\n", r.Reread.Text)
		return err
	}
	return nil
}

func (a *app) editCommand() *cobra.Command {
	var p wire.EditParams
	cmd := &cobra.Command{
		Use:   "edit FILE < edits.json",
		Short: "Change lines that anchors name, or nothing",
		Long: "Read edits from stdin and make them all, or none: a JSON list of {op, pos, end, lines}, one such edit, or an\n" +
			"object with a member edits and the other parameters of mapd/edit. It prints the diff. When a line is no longer\n" +
			"what was shown nothing is written, stderr shows the lines as they are, and the exit code is 1.",
		Example: `  echo '[{"op":"replace","pos":"42#VRTX","lines":["new"]}]' | mapd edit main.go`,
		Args:    usage(cobra.ExactArgs(1)), ValidArgsFunction: firstFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := parseFile(args[0])
			if err != nil {
				return err
			}
			params, err := readEdits(a.stdin, p)
			if err != nil {
				return &usageError{err}
			}
			if err := sameFile(params, t.path); err != nil {
				return &usageError{err}
			}
			params.Path, params.URI = "", fileURI(t.path)
			return a.call(cmd.Context(), t.roots, wire.MethodEdit, params, a.printEdit)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&p.DryRun, "dry-run", false, "show the diff and write nothing")
	f.BoolVar(&p.Create, "create", false, "make a new file of the lines of one append")
	f.StringVar(&p.Snapshot, "snapshot", "", "take the anchors for those of this `version`")
	f.StringVar(&p.OnStale, "on-stale", "", "`remap` follows lines that provably moved, reject does not")
	f.StringVar(&p.RequestID, "request-id", "", "make the edit once however often this `id` is sent")
	return cmd
}

// readEdits reads the edits, and puts them over what the flags say.
func readEdits(in io.Reader, p wire.EditParams) (wire.EditParams, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return p, err
	}
	strict := json.RejectUnknownMembers(true)
	var kind struct {
		Op *string `json:"op"`
	}
	switch {
	case strings.HasPrefix(strings.TrimSpace(string(data)), "["):
		err = json.Unmarshal(data, &p.Edits, strict)
	case json.Unmarshal(data, &kind) == nil && kind.Op != nil:
		p.Edits = make([]wire.Edit, 1)
		err = json.Unmarshal(data, &p.Edits[0], strict)
	default:
		err = json.Unmarshal(data, &p, strict)
	}
	if err != nil {
		return p, fmt.Errorf("stdin holds no edits: %w", err)
	}
	return p, nil
}

// sameFile refuses edits that name another file than the command line does.
func sameFile(p wire.EditParams, file string) error {
	name := p.Path
	if p.URI != "" {
		at, err := url.Parse(p.URI)
		if err != nil {
			return err
		}
		name = at.Path
	}
	if name == "" {
		return nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if full != file && !strings.HasSuffix(file, "/"+filepath.Clean(name)) {
		return fmt.Errorf("the edits are for %s, the command line names %s", name, file)
	}
	return nil
}

func (a *app) printEdit(w io.Writer, result []byte) error {
	var r wire.EditResult
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(a.stderr, "mapd: warning: %s\n", warning)
	}
	for _, moved := range r.Rebased {
		fmt.Fprintf(a.stderr, "mapd: %s had moved to %s\n", moved.From, moved.To)
	}
	switch {
	case r.NoChange:
		fmt.Fprintln(a.stderr, "mapd: nothing to change")
	case r.DryRun:
		fmt.Fprintln(a.stderr, "mapd: dry run, nothing was written")
	}
	_, err := io.WriteString(w, r.Diff)
	return err
}

func (a *app) ledgerCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "ledger [FILE]",
		Short:   "Show which lines a session was shown, and which of them went stale",
		Example: "  mapd --session me ledger\n  mapd --session me ledger main.go --json",
		Args:    usage(cobra.MaximumNArgs(1)), ValidArgsFunction: firstFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, roots, err := a.optionalFile(args)
			if err != nil {
				return err
			}
			return a.call(cmd.Context(), roots, wire.MethodLedger, p, printLedger)
		},
	}
}

// optionalFile is the FILE of a command that can do without, and then means
// the root of the working directory.
func (a *app) optionalFile(args []string) (wire.LedgerParams, []folder, error) {
	if len(args) == 0 {
		dir, err := os.Getwd()
		return wire.LedgerParams{}, rootsOf(dir), err
	}
	t, err := parseFile(args[0])
	return wire.LedgerParams{URI: fileURI(t.path)}, t.roots, err
}

func printLedger(w io.Writer, result []byte) error {
	var r wire.LedgerResult
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	for _, f := range r.Files {
		line := fmt.Sprintf("%s: %s", f.Path, joinRanges(f.Ranges))
		if len(f.Stale) > 0 {
			line += ", stale: " + joinRanges(f.Stale)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) recoverCommand() *cobra.Command {
	var reissue bool
	cmd := &cobra.Command{
		Use:   "recover < turn.json",
		Short: "Find the reads of a turn that an agent's harness dropped",
		Long: "Read a turn from stdin, {\"toolCalls\":[...],\"toolResults\":[...]}, and print the files whose reads were skipped.\n" +
			"With an empty stdin: the reads of this --session that never arrived. With --reissue --json also their results.",
		Example: "  mapd recover < turn.json\n  mapd --session me recover --reissue --json < /dev/null",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			turn, err := io.ReadAll(a.stdin)
			if err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			p := wire.RecoverParams{Reissue: reissue}
			if text := strings.TrimSpace(string(turn)); text != "" {
				if !jsontext.Value(turn).IsValid() {
					return &usageError{errors.New("stdin holds no JSON")}
				}
				p.Turn = turnOf(turn)
			}
			return a.call(cmd.Context(), rootsOf(dir), wire.MethodRecover, p, printRecover)
		},
	}
	cmd.Flags().BoolVar(&reissue, "reissue", false, "run the reads again")
	return cmd
}

// turnOf returns the turn of what stdin holds: that itself, or the params of
// mapd/recover with the turn in them.
func turnOf(data []byte) []byte {
	var params struct {
		Turn jsontext.Value `json:"turn"`
	}
	if err := json.Unmarshal(data, &params); err == nil && params.Turn != nil {
		return params.Turn
	}
	return data
}

func printRecover(w io.Writer, result []byte) error {
	var r wire.RecoverResult
	if err := json.Unmarshal(result, &r); err != nil || r.Expanded == "" {
		return err
	}
	_, err := fmt.Fprintln(w, r.Expanded)
	return err
}
