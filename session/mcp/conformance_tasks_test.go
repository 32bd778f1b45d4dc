//go:build unix && conformance

package mcp

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixtureTasks are tasks as the conformance suite expects them, in memory, behind the server's methods and middleware.
type fixtureTasks struct {
	mu    sync.Mutex
	tasks map[string]*fixtureTask
}

// fixtureTask is one task.
type fixtureTask struct {
	Detail
	answers sdk.InputResponseMap
	end     context.CancelFunc
	more    chan struct{} // closed once all questions were answered
}

func newFixtureTasks() *fixtureTasks { return &fixtureTasks{tasks: map[string]*fixtureTask{}} }

// begin turns a call into a task that runs do. Without a slot it runs at once.
func (f *fixtureTasks) begin(ctx context.Context, ask sdk.InputRequestMap, do func(context.Context, sdk.InputResponseMap) (*sdk.CallToolResult, error)) (*sdk.CallToolResult, any, error) {
	slot := SlotOf(ctx)
	if slot == nil {
		r, err := do(ctx, nil)
		return r, nil, err
	}
	ttl := time.Hour.Milliseconds()
	run, end := context.WithCancel(context.Background())
	t := &fixtureTask{answers: sdk.InputResponseMap{}, end: end, more: make(chan struct{})}
	t.Task = Task{ID: newTaskID(), Status: TaskWorking, Created: now(), Updated: now(), TTL: &ttl, Interval: 100}
	if t.InputRequests = ask; ask != nil {
		t.Status = TaskInput
	} else {
		close(t.more)
	}
	f.mu.Lock()
	f.tasks[t.ID] = t
	f.mu.Unlock()
	created := t.Task
	created.Status = TaskWorking
	slot.Become(&created)
	go func() {
		defer end()
		select {
		case <-t.more:
		case <-run.Done():
		}
		r, err := do(run, t.answers)
		f.mu.Lock()
		defer f.mu.Unlock()
		t.Updated = now()
		var rpc *jsonrpc.Error
		switch {
		case t.Status == TaskCancelled:
		case errors.As(err, &rpc):
			t.Status, t.Error = TaskFailed, rpc
		default:
			t.Status, t.Result = TaskCompleted, r
		}
	}()
	return said("a task"), nil, nil
}

// get implements Tasks.Get.
func (f *fixtureTasks) get(_ context.Context, id string) (*Detail, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tasks[id]
	if t == nil {
		return nil, ErrNoTask
	}
	d := t.Detail
	d.InputRequests = maps.Clone(t.InputRequests)
	return &d, nil
}

// update implements Tasks.Update.
func (f *fixtureTasks) update(_ context.Context, id string, answers sdk.InputResponseMap) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tasks[id]
	if t == nil {
		return ErrNoTask
	}
	for key, a := range answers {
		if _, ok := t.InputRequests[key]; ok {
			t.answers[key] = a
			delete(t.InputRequests, key)
		}
	}
	if t.Status == TaskInput && len(t.InputRequests) == 0 {
		t.Status, t.InputRequests = TaskWorking, nil
		close(t.more)
	}
	return nil
}

// cancel implements Tasks.Cancel.
func (f *fixtureTasks) cancel(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tasks[id]
	if t == nil {
		return ErrNoTask
	}
	if t.Status == TaskWorking || t.Status == TaskInput {
		t.Status, t.InputRequests = TaskCancelled, nil
		t.end()
	}
	return nil
}

// after waits for a time, or until ctx ends.
func after(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// addTools adds the tools that become tasks.
func (f *fixtureTasks) addTools(server *sdk.Server) {
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "of the suite"}, func(_ context.Context, _ *sdk.CallToolRequest, in struct {
		Name string `json:"name,omitempty"`
	}) (*sdk.CallToolResult, any, error) {
		return said("Hello, %s!", in.Name), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "slow_compute", Description: "of the suite"}, func(ctx context.Context, _ *sdk.CallToolRequest, in struct {
		Seconds float64 `json:"seconds,omitempty"`
		Label   string  `json:"label,omitempty"`
	}) (*sdk.CallToolResult, any, error) {
		return f.begin(ctx, nil, func(ctx context.Context, _ sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			after(ctx, time.Duration(in.Seconds*float64(time.Second)))
			return said("computed %s", in.Label), nil
		})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "failing_job", Description: "of the suite"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		if SlotOf(ctx) == nil {
			return nil, nil, NeedsTasks()
		}
		return f.begin(ctx, nil, func(ctx context.Context, _ sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			after(ctx, time.Second)
			r := said("it failed")
			r.IsError = true
			return r, nil
		})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "protocol_error_job", Description: "of the suite"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		return f.begin(ctx, nil, func(context.Context, sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "it broke"}
		})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "confirm_delete", Description: "of the suite"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		return f.begin(ctx, sdk.InputRequestMap{"confirm": elicit("Delete it?", "confirm", "boolean")}, func(_ context.Context, m sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			return said("deleted: %v", accepted(m, "confirm")["confirm"]), nil
		})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "multi_input", Description: "of the suite"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		return f.begin(ctx, sdk.InputRequestMap{"a": elicit("One?", "name", "string"), "b": elicit("Two?", "name", "string")}, func(_ context.Context, m sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			return said("%d answers", len(m)), nil
		})
	})
	sdk.AddTool(server, &sdk.Tool{Name: "test_tool_with_task", Description: "of the suite"}, func(ctx context.Context, req *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		if SlotOf(ctx) == nil {
			return nil, nil, NeedsTasks()
		}
		name, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string)
		if name == "" {
			r, err := asks(sdk.InputRequestMap{"user_name": elicit("Your name?", "name", "string")})
			return r, nil, err
		}
		return f.begin(ctx, nil, func(context.Context, sdk.InputResponseMap) (*sdk.CallToolResult, error) {
			return said("done for %s", name), nil
		})
	})
}
