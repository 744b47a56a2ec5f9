package main

import "io"

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
