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
