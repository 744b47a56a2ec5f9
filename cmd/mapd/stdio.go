package main

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/spf13/cobra"

	"mapd/rpc/client"
)

// stdio returns stdin and stdout as one connection. A read of it ends when it
// is closed, which a read of a terminal or pipe would not: bytes go through a
// goroutine that ends with stdin or with the process.
func (a *app) stdio() io.ReadWriteCloser {
	in, feed := io.Pipe()
	go func() {
		_, err := io.Copy(feed, a.stdin)
		feed.CloseWithError(err) // nil is the end of input
	}()
	return &duplex{in: in, out: a.stdout}
}

// duplex joins a reader and a writer.
type duplex struct {
	in  *io.PipeReader
	out io.Writer
}

func (d *duplex) Read(b []byte) (int, error)  { return d.in.Read(b) }
func (d *duplex) Write(b []byte) (int, error) { return d.out.Write(b) }

// Close ends reads. Writes end with the process.
func (d *duplex) Close() error { return d.in.Close() }

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "lsp",
		Short:   "Join an editor on stdin and stdout to the shared daemon",
		Long:    "Join an editor on stdin and stdout to the shared daemon, which is started if none runs.\nIt ends when the editor closes stdin or sends exit.",
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
	go func() { // ends with stdin or with the process
		if _, err := io.Copy(c, a.stdin); err == nil {
			_ = c.CloseWrite()
		}
	}()
	_, err := io.Copy(a.stdout, c)
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, ignoreClosed(c.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
