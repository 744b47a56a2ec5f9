package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// attempts are the reads of one request: each ends as delivered, as an error of
// its own, or as lost, and then mapd/recover brings it back.
type attempts []*recovery.Attempt

// numberKey is the key of a request's number in its context: its place in the
// order in which requests came, which its handler can no longer tell.
type numberKey struct{}

// recoverable gives a call of m its number, and has unserved told if the call
// is never served. It runs on the read loop.
func (s *Session) recoverable(m *conn.Method, unserved func(context.Context, *Session, []byte)) {
	number := s.reads.Number()
	serve := m.Serve
	m.Serve = func(ctx context.Context, params []byte) (conn.Reply, error) {
		return serve(context.WithValue(ctx, numberKey{}, number), params)
	}
	m.Unserved = func(params []byte) {
		unserved(context.WithValue(context.Background(), numberKey{}, number), s, params)
	}
}

// begin notes reads that a client asks for.
func (s *Session) begin(ctx context.Context, reads ...wire.ReadParams) attempts {
	number, _ := ctx.Value(numberKey{}).(int64)
	out := make(attempts, len(reads))
	for i, p := range reads {
		out[i] = s.reads.Begin(number, readOf(p))
	}
	return out
}

// readOf is a read as it is asked for again.
func readOf(p wire.ReadParams) recovery.Read {
	params, _ := encode(p) // of strings and numbers that were just decoded: it does not fail
	return recovery.Read{ToolCallID: p.ToolCallID, Path: orDefault(p.Path, p.URI), Params: params}
}

// end settles the reads as the handler ended them. A read whose request was cut
// off is lost, and so is one whose reply or error does not leave.
func (a attempts) end(reply conn.Reply, err error) conn.Reply {
	if err != nil && cutOff(err) {
		for _, one := range a {
			one.Lose()
		}
		return reply
	}
	queued, withdraw := reply.Queued, reply.Withdraw
	reply.Queued = func() {
		for _, one := range a {
			one.Settle()
		}
		if queued != nil {
			queued()
		}
	}
	reply.Withdraw = func() {
		for _, one := range a {
			one.Lose()
		}
		if withdraw != nil {
			withdraw()
		}
	}
	return reply
}

// cutOff reports whether an error says that the request was ended from outside,
// not that it failed.
func cutOff(err error) bool {
	code := toWire(err).Code
	return code == wire.Cancelled || code == wire.ShuttingDown || code == wire.ServerBusy || errors.Is(err, context.Canceled)
}

// recoverable adds to a method what becomes of a call that is never served.
func recoverable(m method, lose func(context.Context, *Session, []byte)) method {
	m.unserved = lose
	return m
}

func loseRead(ctx context.Context, s *Session, params []byte) {
	if p, err := decodeOne[wire.ReadParams](wire.MethodRead, params); err == nil {
		s.lose(ctx, p)
	}
}

func loseReads(ctx context.Context, s *Session, params []byte) {
	if p, err := decodeOne[readMany](wire.MethodReadMany, params); err == nil && len(p.Reads) <= wire.MaxReads {
		s.lose(ctx, p.decoded()...)
	}
}

func (s *Session) lose(ctx context.Context, reads ...wire.ReadParams) {
	for _, one := range s.begin(ctx, reads...) {
		one.Lose()
	}
}

// serveRecover answers mapd/recover: the reads of a turn that the harness
// dropped, or those of this session that never arrived.
func (s *Session) serveRecover(ctx context.Context, p wire.RecoverParams) (conn.Reply, error) {
	reply := conn.Reply{}
	var lost []recovery.Read
	if len(p.Turn) > 0 && string(p.Turn) != "null" {
		turn, err := recovery.ParseTurn(p.Turn)
		if err != nil {
			return reply, wire.Errorf(wire.InvalidParams, "%v", err)
		}
		lost = turn.Skipped()
	} else {
		if len(s.folders.Load().Roots()) == 0 {
			return reply, errNoFolder
		}
		taken := s.reads.Take()
		defer func() {
			if reply.Result == nil { // failed: nothing was given back
				taken.Put()
			}
		}()
		reply.Withdraw = taken.Put
		lost = taken.Reads()
	}
	result, err := encode(recovery.Recover(lost))
	if err != nil {
		return reply, err
	}
	if !p.Reissue || len(lost) == 0 {
		reply.Result = result
		return reply, nil
	}
	answers, outcomes := s.reissue(ctx, lost)
	if err := ctx.Err(); err != nil {
		return conn.Reply{}, err
	}
	result = append(bytes.TrimSuffix(result, []byte("}")), `,"reads":[`...)
	result = append(append(result, bytes.Join(outcomes, []byte(","))...), "]}"...)
	delivered, err := s.deliver(result, answers...)
	if err != nil {
		return conn.Reply{}, err
	}
	withdrawn, putBack := delivered.Withdraw, reply.Withdraw
	delivered.Withdraw = func() {
		withdrawn()
		if putBack != nil {
			putBack()
		}
	}
	reply = delivered
	return reply, nil
}

// reissue runs reads again, in order.
func (s *Session) reissue(ctx context.Context, lost []recovery.Read) ([]*readAnswer, [][]byte) {
	raw := make([]json.RawMessage, len(lost))
	for i, read := range lost {
		raw[i] = read.Params
	}
	prepared := &preparation{server: s.server}
	defer prepared.done()
	return s.readAll(ctx, raw, prepared)
}

// failedRead is the outcome of a read that failed, encoded.
func failedRead(err *wire.Error) []byte {
	encoded, _ := encode(wire.ReadOutcome{Error: err.Object()}) // of strings and numbers: it does not fail
	return encoded
}
