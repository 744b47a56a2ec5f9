package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mapd/hashline/cases"
)

// TestTurnCases runs the cases in testdata/turn: NAME/turn is a turn, and
// NAME/want its reads that were dropped, one line each: the id of the call, the
// path, the parameters.
func TestTurnCases(t *testing.T) {
	cases.Run(t, "testdata/turn/*.txtar", 1, func(string) func(*testing.T, *cases.Case) {
		return func(t *testing.T, c *cases.Case) { c.Compare(t, "want", dropped(t, c.Raw("turn"))) }
	})
}

func dropped(t *testing.T, data string) string {
	t.Helper()
	turn, err := ParseTurn([]byte(data))
	if err != nil {
		return err.Error() + "\n"
	}
	var sb strings.Builder
	for _, r := range turn.Skipped() {
		fmt.Fprintf(&sb, "%s %s %s\n", r.ToolCallID, r.Path, r.Params)
	}
	return sb.String()
}

func TestTurnOfManyCalls(t *testing.T) {
	type call struct {
		ID        string            `json:"id"`
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	type result struct {
		ToolCallID string `json:"toolCallId"`
		Content    string `json:"content"`
	}
	var in struct {
		ToolCalls   []call   `json:"toolCalls"`
		ToolResults []result `json:"toolResults"`
	}
	for i := range 1000 {
		id := fmt.Sprint("c", i)
		in.ToolCalls = append(in.ToolCalls, call{id, "read", map[string]string{"path": fmt.Sprintf("dir/ü%d.go", i)}})
		content := "1#ZZZZ:package dir"
		if i%3 == 0 {
			content = SkipMarker
		}
		// Results arrive in the opposite order.
		in.ToolResults = append([]result{{id, content}}, in.ToolResults...)
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := ParseTurn(data)
	if err != nil {
		t.Fatal(err)
	}
	skipped := turn.Skipped()
	if len(skipped) != 334 {
		t.Fatalf("%d reads", len(skipped))
	}
	for i, r := range skipped {
		if want := fmt.Sprintf("dir/ü%d.go", 3*i); r.Path != want {
			t.Fatalf("read %d is of %s, want %s", i, r.Path, want)
		}
	}
}

func FuzzParseTurn(f *testing.F) {
	f.Add([]byte(`{"toolCalls":[{"id":"1","name":"read","arguments":{"path":"a"}}],"toolResults":[{"toolCallId":"1","content":"Skipped due to queued user message."}]}`))
	f.Add([]byte(`{"toolCalls":[{"function":{"name":"read","arguments":"{\"path\":1}"}}],"toolResults":[{"tool_call_id":"1","content":[[["x"]]]}]}`))
	f.Add([]byte(`{"toolCalls":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		turn, err := ParseTurn(data)
		if err != nil {
			if !errors.Is(err, ErrTurn) {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, r := range turn.Skipped() {
			if r.Path == "" || !json.Valid(r.Params) {
				t.Fatalf("read %+v", r)
			}
		}
	})
}
