package recovery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Recovered is the answer to mapd/recover, without the results of reads that it
// issues again.
type Recovered struct {
	Skipped  []Read   `json:"skipped"`
	Message  *Message `json:"message,omitzero"`
	Summary  string   `json:"summary,omitzero"`
	Expanded string   `json:"expanded,omitzero"`
}

// Message is what an agent harness puts into the conversation as a follow-up.
type Message struct {
	CustomType string  `json:"customType"` // "read-recovery"
	Content    string  `json:"content"`
	Display    bool    `json:"display"`
	Details    Details `json:"details"`
	DeliverAs  string  `json:"deliverAs"` // "followUp"
}

// Details are the files of a Message, each once, in the order of the reads.
type Details struct {
	Paths []string `json:"paths"`
}

// Recover makes the answer for reads that never arrived. Without any, Skipped is
// empty, not nil, and there is nothing else.
func Recover(reads []Read) Recovered {
	if len(reads) == 0 {
		return Recovered{Skipped: []Read{}}
	}
	var paths []string
	seen := map[string]bool{}
	for _, r := range reads {
		if !seen[r.Path] {
			seen[r.Path] = true
			paths = append(paths, r.Path)
		}
	}
	summary := fmt.Sprintf("Recovery: %d interrupted read(s) being re-issued", len(reads))
	return Recovered{
		Skipped: reads,
		Message: &Message{
			CustomType: "read-recovery",
			Content:    request(reads, paths),
			Display:    true,
			Details:    Details{Paths: paths},
			DeliverAs:  "followUp",
		},
		Summary:  summary,
		Expanded: summary + "\n" + strings.Join(rows(paths), "\n"),
	}
}

// request asks the agent for the reads again.
func request(reads []Read, paths []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d read(s) were interrupted before their result arrived. Please read again, with the same arguments:\n", len(reads))
	for _, p := range rows(paths) {
		b.WriteString("- " + p + "\n")
	}
	b.WriteString("Do not assume anything about the content of these files until you have read it.")
	return b.String()
}

// rows returns the paths as one line each: a path with a line end in it is
// quoted.
func rows(paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		if strings.ContainsAny(p, "\n\r") {
			out[i] = strconv.Quote(p)
		}
	}
	return out
}
