package client

import (
	"context"

	"mapd/rpc/wire"
)

// Read is mapd/read.
func (c *Client) Read(ctx context.Context, params wire.ReadParams) (*wire.ReadResult, error) {
	return call[wire.ReadResult](ctx, c, wire.MethodRead, params)
}

// ReadMany is mapd/readMany.
func (c *Client) ReadMany(ctx context.Context, params wire.ReadManyParams) (*wire.ReadManyResult, error) {
	return call[wire.ReadManyResult](ctx, c, wire.MethodReadMany, params)
}

// Map is mapd/map.
func (c *Client) Map(ctx context.Context, params wire.MapParams) (*wire.MapResult, error) {
	return call[wire.MapResult](ctx, c, wire.MethodMap, params)
}

// Find is mapd/find.
func (c *Client) Find(ctx context.Context, params wire.FindParams) (*wire.FindResult, error) {
	return call[wire.FindResult](ctx, c, wire.MethodFind, params)
}

// Check is mapd/check.
func (c *Client) Check(ctx context.Context, params wire.CheckParams) (*wire.CheckResult, error) {
	return call[wire.CheckResult](ctx, c, wire.MethodCheck, params)
}

// Edit is mapd/edit.
func (c *Client) Edit(ctx context.Context, params wire.EditParams) (*wire.EditResult, error) {
	return call[wire.EditResult](ctx, c, wire.MethodEdit, params)
}

// EditMany is mapd/editMany.
func (c *Client) EditMany(ctx context.Context, params wire.EditManyParams) (*wire.EditManyResult, error) {
	return call[wire.EditManyResult](ctx, c, wire.MethodEditMany, params)
}

// Recover is mapd/recover.
func (c *Client) Recover(ctx context.Context, params wire.RecoverParams) (*wire.RecoverResult, error) {
	return call[wire.RecoverResult](ctx, c, wire.MethodRecover, params)
}

// Ledger is mapd/ledger.
func (c *Client) Ledger(ctx context.Context, params wire.LedgerParams) (*wire.LedgerResult, error) {
	return call[wire.LedgerResult](ctx, c, wire.MethodLedger, params)
}

// Forget is mapd/forget.
func (c *Client) Forget(ctx context.Context, params wire.LedgerParams) error {
	return c.Call(ctx, wire.MethodForget, params, nil)
}

// Status is mapd/status.
func (c *Client) Status(ctx context.Context) (*wire.StatusResult, error) {
	return call[wire.StatusResult](ctx, c, wire.MethodStatus, struct{}{})
}

// Stop is mapd/stop: it returns when the daemon has begun to drain.
func (c *Client) Stop(ctx context.Context) (*wire.StopResult, error) {
	return call[wire.StopResult](ctx, c, wire.MethodStop, struct{}{})
}

func call[R any](ctx context.Context, c *Client, method string, params any) (*R, error) {
	result := new(R)
	if err := c.Call(ctx, method, params, result); err != nil {
		return nil, err
	}
	return result, nil
}
