// Command mapd is the daemon, its command line and its stdio bridges in one
// binary.
//
// Every command that reads connects to the user's daemon and starts it if none
// runs. Data goes to stdout, prose to stderr. The exit code is 0 for success,
// 1 for a failure and 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mapd/outline/sandbox"
	"mapd/rpc/client"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	sandbox.RunIfWorker()
	os.Exit(mainCode())
}

// mainCode is main as a function that returns, so that scripts can run it in
// a test binary.
func mainCode() int {
	if client.IsDaemon(os.Args) {
		return runDaemon(context.Background(), os.Getenv)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// run runs one command and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{umask: currentUmask(), stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, conf: configure(os.Getenv)}
	root := a.commands()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "mapd: %v\nRun 'mapd --help' for usage.\n", err)
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailed
	default:
		fmt.Fprintf(stderr, "mapd: %v\n", err)
		return exitFailed
	}
}

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usage makes the errors of f usage errors.
func usage(f func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// errReported ends a command that has already said what is wrong.
var errReported = errors.New("reported")

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	conf           *configuration
	json           bool
	session        string
	color          string // of --color; "" leaves it to the environment
	umask          int    // of this process, for files that the daemon makes for it
}

// currentUmask returns the umask, which can only be read by setting it.
func currentUmask() int {
	u := syscall.Umask(0o077)
	syscall.Umask(u)
	return u
}

func (a *app) commands() *cobra.Command {
	root := &cobra.Command{
		Use:   "mapd",
		Short: "A daemon that keeps the truth about the files agents read",
		Long:  "mapd answers reads with a structural map of the whole file, from one daemon that all agents of a user share.\nCommands that read start the daemon if none runs; nothing has to be configured.",
		Example: "  mapd read main.go\n  mapd map main.go\n  mapd find NewServer\n" +
			"  mapd status\n  mapd doctor",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the result object as on the wire")
	root.PersistentFlags().StringVar(&a.session, "session", a.conf.getenv("MAPD_SESSION"), "keep one ledger over several calls, under this `name` (default $MAPD_SESSION)")
	root.PersistentFlags().StringVar(&a.color, "color", "", "use colours: `auto`, always or never (default $NO_COLOR, then auto)")
	completeFlag(root, "color", oneOf("auto", "always", "never"))
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkColor() }
	root.AddCommand(
		a.readCommand(), a.mapCommand(), a.checkCommand(), a.editCommand(), a.ledgerCommand(), a.recoverCommand(),
		a.findCommand(), a.indexCommand(), a.statusCommand(), a.stopCommand(),
		a.serveCommand(), a.lspCommand(), a.mcpCommand(), a.installCommand(), a.uninstallCommand(), a.versionCommand(), a.doctorCommand(),
	)
	strict(root)
	return root
}

// strict makes an unknown shell or topic wrong usage: the commands that cobra
// adds by itself answer it with a help text and success.
func strict(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args = usage(cobra.NoArgs)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = usage(cobra.NoArgs)
			}
		case "help":
			cmd.Args = usage(func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("there is no command %q", strings.Join(args, " "))
				}
				return nil
			})
		}
	}
}
