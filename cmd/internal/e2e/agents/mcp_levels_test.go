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

// A task is any job, and a client may do with it what the tools of its level do: who only looks neither answers nor ends it,
// and one that may not stop things ends its own.
//
// FEATURES: R85
func TestTasksHoldToLevels(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("run", "-b", "--id", "persons", "-c", `printf 'Delete all? [y/N] '; read A; echo said $A; exec sleep 1000`)
	by := levels(i)
	var question string
	e2e.Eventually(t, "the question", func() bool {
		d, _ := by["read"].request("tasks/get", "persons", arguments{"taskId": "persons"})
		questions, _ := d["inputRequests"].(arguments)
		for question = range questions {
		}
		return question != ""
	})
	yes := func() arguments {
		return arguments{"taskId": "persons", "inputResponses": arguments{question: arguments{"action": "accept", "content": arguments{"answer": "yes"}}}}
	}
	if _, rpc := by["read"].request("tasks/update", "persons", yes()); rpc == nil || !strings.Contains(rpc["message"].(string), "not allowed here") {
		t.Errorf("who only looks answered: %v", rpc)
	}
	for _, l := range []string{"read", "change"} {
		if _, rpc := by[l].request("tasks/cancel", "persons", arguments{"taskId": "persons"}); rpc == nil {
			t.Errorf("the level %s ended a person's job", l)
		}
	}
	decline := yes()
	decline["inputResponses"] = arguments{question: arguments{"action": "decline"}}
	if _, rpc := by["change"].request("tasks/update", "persons", decline); rpc == nil {
		t.Error("the level change ended a person's job by declining")
	}
	if d, _ := by["read"].request("tasks/get", "persons", arguments{"taskId": "persons"}); d["status"] != "input_required" {
		t.Errorf("%v", d)
	}
	if _, rpc := by["change"].request("tasks/update", "persons", yes()); rpc != nil {
		t.Errorf("the level change answers as input does: %v", rpc)
	}
	long, _ := by["change"].request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "sleep 1000"}})
	id, _ := long["taskId"].(string)
	if _, rpc := by["read"].request("tasks/cancel", id, arguments{"taskId": id}); rpc == nil || !strings.Contains(rpc["message"].(string), "not allowed here") {
		t.Errorf("who only looks ended what it has run at another level: %v", rpc)
	}
	if _, rpc := by["change"].request("tasks/cancel", id, arguments{"taskId": id}); rpc != nil {
		t.Errorf("an agent's own task: %v", rpc)
	}
	if _, rpc := by["all"].request("tasks/cancel", "persons", arguments{"taskId": "persons"}); rpc != nil {
		t.Errorf("the level all: %v", rpc)
	}
}
