package conn_test

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// innocent asks for pages in a loop, beside whatever else goes on, and measures.
type innocent struct {
	stop chan struct{}
	done chan error
	took []time.Duration
}

func (s *server) innocent() *innocent {
	i := &innocent{stop: make(chan struct{}), done: make(chan error, 1)}
	c, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer c.Close()
		i.done <- i.ask(c)
	}()
	return i
}

func (i *innocent) ask(c *client) error {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := 1; ; n++ {
		begin := time.Now()
		if err := c.SetDeadline(begin.Add(patience)); err != nil {
			return err
		}
		fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"page"}`+"\n", n)
		line, err := c.in.ReadBytes('\n')
		if err != nil || !bytes.HasPrefix(line, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":"x`, n)) {
			return fmt.Errorf("the innocent session got %.100q, %w", line, err)
		}
		i.took = append(i.took, time.Since(begin))
		<-ticker.C
		if n >= fewest && closed(i.stop) {
			return nil
		}
	}
}

// fewest is how often an innocent session asks at least.
const fewest = 30

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (i *innocent) end() (p50, p99 time.Duration, err error) {
	close(i.stop)
	err = <-i.done
	slices.Sort(i.took)
	if len(i.took) == 0 {
		return 0, 0, err
	}
	return i.took[len(i.took)/2], i.took[len(i.took)*99/100], err
}
