package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/spf13/cobra"

	"mapd/rpc/client"
)

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Join an editor on stdin and stdout to the shared daemon",
		Long: "Join an editor on stdin and stdout to the shared daemon, which is started if none runs.\n" +
			"It ends when the editor closes stdin or sends exit: with 0, or with 1 if exit came without shutdown\n" +
			"or the daemon ended first.",
		Example: "  mapd lsp",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := client.Connect(cmd.Context(), client.Options{Start: true, Getenv: a.getenv})
			if err != nil {
				return err
			}
			return a.forward(cmd.Context(), c)
		},
	}
}

// forward copies both ways until the daemon closes the connection. The end of
// stdin ends only our half, so that replies under way still arrive.
func (a *app) forward(ctx context.Context, c *net.UnixConn) error {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	farewell := &farewell{}
	var ended atomic.Bool // stdin
	go func() {           // ends with stdin or with the process
		if _, err := io.Copy(c, io.TeeReader(a.stdin, farewell)); err == nil {
			ended.Store(true)
			_ = c.CloseWrite()
		}
	}()
	shown := &sink{w: a.stdout}
	_, err := io.Copy(shown, c)
	_ = c.Close() // it is over in any case
	switch {
	case ctx.Err() != nil:
		return nil
	case shown.err != nil:
		return fmt.Errorf("the editor does not read what it is sent: %w", shown.err)
	case farewell.seen():
		return farewell.err()
	case ended.Load():
		return nil
	default:
		return errors.Join(errDaemonGone, err)
	}
}

// errDaemonGone ends a bridge whose editor still wanted it.
var errDaemonGone = errors.New("the daemon has ended the connection; restart the language server in the editor, which starts a daemon if none runs")

// sink is a writer that keeps its error, so that the two ends of a copy can be
// told apart.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}
