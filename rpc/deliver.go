package rpc

import (
	"context"
	"sync"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// readsAtOnce is how many reads of one mapd/readMany run at the same time.
const readsAtOnce = 8

// serveRead answers mapd/read.
func (s *Session) serveRead(ctx context.Context, p wire.ReadParams) (conn.Reply, error) {
	a, err := s.read(ctx, p)
	if err != nil {
		return conn.Reply{}, err
	}
	return s.deliver(&a.result, a)
}

// serveReadMany answers mapd/readMany: each read on its own, in order of the
// request. The failure of one is its own.
func (s *Session) serveReadMany(ctx context.Context, p wire.ReadManyParams) (conn.Reply, error) {
	if len(p.Reads) == 0 || len(p.Reads) > wire.MaxReads {
		return conn.Reply{}, wire.Errorf(wire.InvalidParams, "reads has %d entries; it must have 1 to %d", len(p.Reads), wire.MaxReads)
	}
	answers := make([]*readAnswer, len(p.Reads))
	result := wire.ReadManyResult{Results: make([]wire.ReadOutcome, len(p.Reads))}
	slots := make(chan struct{}, readsAtOnce)
	var wg sync.WaitGroup
	for i, read := range p.Reads {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			answers[i], result.Results[i] = s.readOne(ctx, read)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return conn.Reply{}, err
	}
	return s.deliver(result, answers...)
}

// readOne is read as an entry of mapd/readMany. A panic is this entry's error.
func (s *Session) readOne(ctx context.Context, p wire.ReadParams) (a *readAnswer, out wire.ReadOutcome) {
	defer func() {
		if r := recover(); r != nil {
			a, out = nil, wire.ReadOutcome{Error: s.server.panicked(wire.MethodReadMany, r).Object()}
		}
	}()
	a, err := s.read(ctx, p)
	if err != nil {
		return nil, wire.ReadOutcome{Error: toWire(err).Object()}
	}
	return a, wire.ReadOutcome{OK: &a.result}
}

// deliver makes the reply that carries answers, which may hold nils: the maps
// in separate delivery follow it.
func (s *Session) deliver(result any, answers ...*readAnswer) (conn.Reply, error) {
	encoded, err := encode(result)
	if err != nil {
		return conn.Reply{}, err
	}
	reply := conn.Reply{Result: encoded}
	for _, a := range answers {
		if a == nil || a.fileMap == nil {
			continue
		}
		params, err := encode(a.fileMap)
		if err != nil {
			return conn.Reply{}, err
		}
		reply.After = append(reply.After, conn.Notification{Method: wire.NotifyFileMap, Params: params})
	}
	return reply, nil
}
