package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mapd/rpc/wire"
)

// tool is one row of what the bridge offers. Its arguments are the parameters
// of the method, checked by the daemon: schema and description tell a model the
// ones it needs, in few words, as every session pays for them.
type tool struct {
	name, method string
	description  string
	schema       string
	readOnly     bool // it changes no file, and may be made twice
	members      []member
	// blocks makes of a result the array of content blocks that a model reads.
	blocks func(result []byte) ([]byte, error)
}

// member is one of the arguments that is not passed on as it came.
type member struct {
	name, value string // value is JSON
	replace     bool   // value is put in the place of one that was given, else of one that was not
}

// tools are what the bridge offers, in the order of their names.
var tools = []tool{
	{
		name: "check", method: wire.MethodCheck, readOnly: true, blocks: checkBlocks,
		description: "Do anchors still name the lines you were shown? Re-shows those that changed.",
		schema:      `{"type":"object","properties":{"path":{"type":"string"},"anchors":{"type":"array","items":{"type":"string"}}},"required":["path","anchors"]}`,
	},
	{
		name: "edit", method: wire.MethodEdit, blocks: editBlocks,
		description: "Change lines named by anchors you were shown: all edits or none. replace pos..end, delete pos..end, append after pos (or at the end), prepend before pos. Lines that moved are followed.",
		schema: `{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{` +
			`"op":{"type":"string","enum":["replace","append","prepend","delete"]},` +
			`"pos":{"type":"string","description":"LINE#HASH"},"end":{"type":"string","description":"LINE#HASH, inclusive"},` +
			`"lines":{"type":"array","items":{"type":"string"},"description":"new text, without anchors"}},"required":["op"]}},` +
			`"create":{"type":"boolean","description":"new file of one append"},"dryRun":{"type":"boolean"}},"required":["path","edits"]}`,
	},
	{
		name: "find", method: wire.MethodFind, readOnly: true, blocks: findBlocks,
		description: "Find symbols by name, or text, in the workspace.",
		schema: `{"type":"object","properties":{"query":{"type":"string"},"mode":{"type":"string","enum":["auto","symbol","text"]},"regexp":{"type":"boolean"},` +
			`"kind":{"type":"string","description":"function, class, ..."},"path":{"type":"string","description":"glob"},"limit":{"type":"integer"}},"required":["query"]}`,
	},
	{
		name: "ledger", method: wire.MethodLedger, readOnly: true, blocks: ledgerBlocks,
		description: "Which lines you were shown, and which went stale.",
		schema:      `{"type":"object","properties":{"path":{"type":"string"}}}`,
	},
	{
		name: "map", method: wire.MethodMap, readOnly: true, blocks: mapBlocks, members: []member{{name: "format", value: `"text"`}},
		description: "Outline of a file: its symbols with their lines.",
		schema: `{"type":"object","properties":{"path":{"type":"string"},"detail":{"type":"string","enum":["auto","full","compact","minimal","outline"]},` +
			`"since":{"type":"string","description":"snapshot: also list changes"}},"required":["path"]}`,
	},
	{
		name: "read", method: wire.MethodRead, readOnly: true, blocks: readBlocks, members: []member{{name: "delivery", value: `"inline"`, replace: true}},
		description: "Show a file, or parts of it, each line as LINE#HASH:content. A large file is cut, with a map of all of it.",
		schema: `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","description":"first line"},"limit":{"type":"integer"},` +
			`"ranges":{"type":"array","items":{"type":"object","properties":{"start":{"type":"integer"},"end":{"type":"integer"}},"required":["start","end"]}},` +
			`"symbol":{"type":"string","description":"name or Type.name"},"cursor":{"type":"string"},` +
			`"map":{"type":"string","enum":["auto","always","never","only"]},"anchors":{"type":"boolean"},"images":{"type":"boolean"}},"required":["path"]}`,
	},
	{
		name: "recover", method: wire.MethodRecover, readOnly: true, blocks: recoverBlocks,
		description: "List your reads that were interrupted; reissue: run them again.",
		schema:      `{"type":"object","properties":{"reissue":{"type":"boolean"},"turn":{"type":"object"}}}`,
	},
	{
		name: "status", method: wire.MethodStatus, readOnly: true, blocks: statusBlocks,
		description: "State of the daemon and of its index.",
		schema:      `{"type":"object"}`,
	},
}

// declaration is the tool as tools/list shows it.
func (t tool) declaration() *sdk.Tool {
	no := false
	hints := &sdk.ToolAnnotations{ReadOnlyHint: t.readOnly, IdempotentHint: t.readOnly, DestructiveHint: &no, OpenWorldHint: &no}
	if !t.readOnly {
		yes := true
		hints.DestructiveHint = &yes
	}
	return &sdk.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.schema), Annotations: hints}
}

// params makes the parameters of the method of a call's arguments.
func (t tool) params(arguments []byte) (json.RawMessage, error) {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' {
		return nil, errors.New("the arguments must be one JSON object")
	}
	for _, m := range t.members {
		given := bytes.Contains(arguments, []byte(`"`+m.name+`"`))
		if given != m.replace {
			continue
		}
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(arguments, &members); err != nil {
			return nil, err
		}
		if _, given := members[m.name]; given == m.replace {
			members[m.name] = json.RawMessage(m.value)
		}
		var err error
		if arguments, err = json.Marshal(members); err != nil {
			return nil, err
		}
	}
	return arguments, nil
}
