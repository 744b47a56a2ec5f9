package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// readsAtOnce is how many reads of the mapd/readMany of one session run at the
// same time.
const readsAtOnce = 8

// serveRead answers mapd/read.
func (s *Session) serveRead(ctx context.Context, p wire.ReadParams) (reply conn.Reply, err error) {
	attempt := s.begin(ctx, p)
	defer func() { reply = attempt.end(reply, err) }()
	a, err := s.read(ctx, p)
	defer a.end()
	if err != nil {
		return conn.Reply{}, err
	}
	news := s.news(ctx, a.version)
	a.result.Stale = news.stale
	encoded, err := a.encode()
	if err != nil {
		return conn.Reply{}, err
	}
	if a.done != nil { // what was queued when its turn came is counted now
		if err := s.drained(ctx); err != nil {
			return conn.Reply{}, err
		}
	}
	reply, err = s.deliver(encoded[0], a)
	reply.Rest = encoded[1:]
	return news.told(reply), err
}

// readMany are the params of mapd/readMany. What is wrong with one read is that
// read's error, so each is decoded on its own.
type readMany struct {
	Reads []json.RawMessage `json:"reads"`
}

// decoded returns the reads that can be decoded.
func (p readMany) decoded() []wire.ReadParams {
	var out []wire.ReadParams
	for _, raw := range p.Reads {
		if read, err := decodeOne[wire.ReadParams](wire.MethodRead, raw); err == nil {
			out = append(out, read)
		}
	}
	return out
}

// serveReadMany answers mapd/readMany: each read on its own, in order of the
// request. The failure of one is its own.
func (s *Session) serveReadMany(ctx context.Context, p readMany) (reply conn.Reply, err error) {
	if p.Reads == nil || len(p.Reads) > wire.MaxReads {
		return conn.Reply{}, wire.Errorf(wire.InvalidParams, "reads has %d entries; it must be a list of at most %d", len(p.Reads), wire.MaxReads)
	}
	attempts := s.begin(ctx, p.decoded()...)
	defer func() { reply = attempts.end(reply, err) }()
	prepared := &preparation{server: s.server}
	defer func() {
		if err != nil {
			prepared.done()
		} else {
			reply = prepared.handOver(reply)
		}
	}()
	answers, results := s.readAll(ctx, p.Reads, prepared)
	if err := ctx.Err(); err != nil {
		return conn.Reply{}, err
	}
	news := s.news(ctx)
	encoded := append([]byte(`{"results":[`), bytes.Join(results, []byte(","))...)
	encoded = append(encoded, ']')
	if len(news.stale) > 0 {
		stale, err := encode(news.stale)
		if err != nil {
			return conn.Reply{}, err
		}
		encoded = append(append(encoded, `,"stale":`...), stale...)
	}
	reply, err = s.deliver(append(encoded, '}'), answers...)
	return news.told(reply), err
}

// readAll runs reads, a few at once, and returns their answers and encoded
// outcomes in order. What they take is counted in prepared; a read for which
// there is no room fails as busy.
func (s *Session) readAll(ctx context.Context, reads []json.RawMessage, prepared *preparation) ([]*readAnswer, [][]byte) {
	answers := make([]*readAnswer, len(reads))
	outcomes := make([][]byte, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		select {
		case s.reading <- struct{}{}:
		case <-ctx.Done():
			outcomes[i] = failedRead(toWire(ctx.Err()))
			continue
		}
		wg.Go(func() {
			defer func() { <-s.reading }()
			answers[i], outcomes[i] = s.readOne(ctx, read)
			if busy := prepared.add(2 * len(outcomes[i])); busy != nil { // here, and in the reply
				answers[i], outcomes[i] = nil, failedRead(busy)
			}
		})
	}
	wg.Wait()
	return answers, outcomes
}

// readOne is read as an entry of mapd/readMany: {"ok":…} or {"error":…}. A
// panic is this entry's error.
func (s *Session) readOne(ctx context.Context, raw json.RawMessage) (a *readAnswer, outcome []byte) {
	defer func() {
		if r := recover(); r != nil {
			a, outcome = nil, failedRead(s.server.panicked(wire.MethodReadMany, r))
		}
	}()
	p, err := decodeOne[wire.ReadParams]("params", raw)
	if err != nil {
		return nil, failedRead(toWire(err))
	}
	a, err = s.read(ctx, p)
	defer a.end()
	if err != nil {
		return nil, failedRead(toWire(err))
	}
	encoded, err := a.encode()
	if err != nil {
		return nil, failedRead(toWire(err))
	}
	return a, slices.Concat([]byte(`{"ok":`), slices.Concat(encoded...), []byte("}"))
}

// deliver makes the reply that carries answers, which may hold nils: what they
// show is recorded with it, and the maps in separate delivery follow it.
func (s *Session) deliver(encoded []byte, answers ...*readAnswer) (conn.Reply, error) {
	reply := conn.Reply{Result: encoded}
	var deliveries []delivery
	for _, a := range answers {
		if a == nil {
			continue
		}
		if a.shown != nil {
			deliveries = append(deliveries, s.pieces.delivery(a.version, a.shown))
		}
		if a.fileMap == nil {
			continue
		}
		params, err := encode(a.fileMap)
		if err != nil {
			return conn.Reply{}, err
		}
		reply.After = append(reply.After, conn.Notification{Method: wire.NotifyFileMap, Params: params})
	}
	return s.recorded(reply, deliveries...), nil
}
