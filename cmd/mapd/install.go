package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mapd/cmd/mapd/install"
)

func (a *app) installCommand() *cobra.Command {
	var command string
	cmd := a.clientCommand("install", "Put mapd into the configuration of a client",
		"Put mapd into the configuration of a client, and print what changes. Everything else in the file stays as it is,\n"+
			"comments too. A second run changes nothing. The file as it was is kept as a backup.",
		func(name string, opt install.Options) (install.Outcome, error) {
			var err error
			if opt.Command = command; command == "" {
				opt.Command, err = ownPath()
			}
			if err != nil {
				return install.Outcome{}, err
			}
			return install.Install(name, opt)
		})
	cmd.Flags().StringVar(&command, "command", "", "the `path` of mapd that the client is to run (default: this one)")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	return a.clientCommand("uninstall", "Take mapd out of the configuration of a client",
		"Take mapd out of the configuration of a client, and print what changes. A file that nobody has changed since\n"+
			"'mapd install' is afterwards as it was before, byte by byte.",
		install.Uninstall)
}

// clientCommand is a command that changes the configuration of one client.
func (a *app) clientCommand(name, short, long string, act func(string, install.Options) (install.Outcome, error)) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:       name + " CLIENT",
		Short:     short,
		Long:      long + "\n\nCLIENT is one of " + strings.Join(install.Clients(), ", ") + ".",
		Example:   "  mapd " + name + " claude-code --dry-run\n  mapd " + name + " claude-code",
		Args:      usage(cobra.ExactArgs(1)),
		ValidArgs: install.Clients(),
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := act(args[0], install.Options{Getenv: a.getenv, DryRun: dryRun})
			var unknown *install.UnknownClientError
			if errors.As(err, &unknown) {
				return &usageError{err}
			}
			if err != nil {
				return err
			}
			done := map[string]string{"install": "installed in", "uninstall": "removed from"}[name]
			return a.printOutcome(out, done, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change and write nothing")
	return cmd
}

func (a *app) printOutcome(out install.Outcome, done string, dryRun bool) error {
	if !out.Changed {
		fmt.Fprintf(a.stderr, "mapd: nothing to change in %s\n", out.Path)
		return nil
	}
	for line := range strings.Lines(out.Diff) {
		if _, err := io.WriteString(a.stdout, clippedDiffLine(line)); err != nil {
			return err
		}
	}
	if dryRun {
		fmt.Fprintf(a.stderr, "mapd: dry run, nothing was written to %s\n", out.Path)
		return nil
	}
	fmt.Fprintf(a.stderr, "mapd: %s %s\n", done, out.Path)
	if out.Backup != "" {
		fmt.Fprintf(a.stderr, "mapd: as it was: %s\n", out.Backup)
	}
	if out.Note != "" {
		fmt.Fprintf(a.stderr, "mapd: %s\n", out.Note)
	}
	return nil
}

// What is shown of a line of a diff: some clients keep all they know in one.
const (
	diffLineStart = 100
	diffLineEnd   = 300
)

func clippedDiffLine(line string) string {
	if len(line) <= diffLineStart+diffLineEnd {
		return line
	}
	left := len(line) - diffLineStart - diffLineEnd
	return strings.ToValidUTF8(fmt.Sprintf("%s … %d bytes … %s", line[:diffLineStart], left, line[len(line)-diffLineEnd:]), "")
}

// ownPath is the path under which this program was called, or found in PATH, if
// it leads here: a name that is a link stays valid when what it leads to is
// replaced. Else it is the path of the executable.
func ownPath() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", err
	}
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err := filepath.Abs(called); err == nil && isExecutable(path, real) {
			real = path
		}
	}
	if strings.Contains(real, string(filepath.Separator)+"go-build") {
		return "", errors.New("this mapd was built by 'go run' and will be gone: run a mapd that stays, built by 'go build -o mapd ./cmd/mapd', or name one with --command")
	}
	return real, nil
}

// isExecutable reports whether two paths lead to one file.
func isExecutable(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
