//go:build unix

package agents

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// levels are an instance's servers by the level that their client has.
func levels(i *e2e.Instance) map[string]*web {
	all := map[string]*web{}
	for _, l := range []string{"read", "change", "all"} {
		all[l] = newWeb(i, "--tools", l, "--elicit", "always")
		all[l].forms = true
	}
	return all
}

// TestTasksHoldToLevels applies the tool levels to tasks: a view-only client neither answers nor ends a task, and a
// client without the right to stop others ends only its own.
//
// FEATURES: R85
func TestTasksHoldToLevels(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("run", "-b", "--id", "persons", "-c", `printf 'Delete all? [y/N] '; read A; echo said $A; exec sleep 1000`)
	by := levels(i)
	var question string
	e2e.Eventually(t, "an approval request is pending", func() bool {
		d, _ := by["read"].request("tasks/get", "persons", arguments{"taskId": "persons"})
		questions, _ := d["inputRequests"].(arguments)
		for question = range questions {
		}
		return question != ""
	})
	yes := func() arguments {
		return arguments{"taskId": "persons", "inputResponses": arguments{question: arguments{"action": "accept", "content": arguments{"answer": "yes"}}}}
	}
	if _, rpc := by["read"].request("tasks/update", "persons", yes()); rpc == nil || !strings.Contains(rpc["message"].(string), "not allowed (this client has level read)") {
		t.Errorf("a view-only client answered: %v", rpc)
	}
	for _, l := range []string{"read", "change"} {
		if _, rpc := by[l].request("tasks/cancel", "persons", arguments{"taskId": "persons"}); rpc == nil {
			t.Errorf("the level %s ended a user's job", l)
		}
	}
	decline := yes()
	decline["inputResponses"] = arguments{question: arguments{"action": "decline"}}
	if _, rpc := by["change"].request("tasks/update", "persons", decline); rpc == nil {
		t.Error("the level change ended a user's job by declining")
	}
	if d, _ := by["read"].request("tasks/get", "persons", arguments{"taskId": "persons"}); d["status"] != "input_required" {
		t.Errorf("%v", d)
	}
	if _, rpc := by["change"].request("tasks/update", "persons", yes()); rpc != nil {
		t.Errorf("the level change answers as input does: %v", rpc)
	}
	long, _ := by["change"].request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "sleep 1000"}})
	id, _ := long["taskId"].(string)
	if _, rpc := by["read"].request("tasks/cancel", id, arguments{"taskId": id}); rpc == nil || !strings.Contains(rpc["message"].(string), "not allowed (this client has level read)") {
		t.Errorf("a view-only client ended a task that it started at another level: %v", rpc)
	}
	if _, rpc := by["change"].request("tasks/cancel", id, arguments{"taskId": id}); rpc != nil {
		t.Errorf("an agent's own task: %v", rpc)
	}
	if _, rpc := by["all"].request("tasks/cancel", "persons", arguments{"taskId": "persons"}); rpc != nil {
		t.Errorf("the level all: %v", rpc)
	}
}
