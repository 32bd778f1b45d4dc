//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension is the extension of tasks (SEP-2663). The SDK does not support it: the middleware answers tools/call
// with its own result, and the methods are custom.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Statuses of tasks.
const (
	TaskWorking   = "working"
	TaskInput     = "input_required"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
)

// Task is a task as clients see it.
type Task struct {
	ID       string `json:"taskId"`
	Status   string `json:"status"`
	Message  string `json:"statusMessage,omitempty"`
	Created  string `json:"createdAt"`
	Updated  string `json:"lastUpdatedAt"`
	TTL      *int64 `json:"ttlMs"` // null: as long as the job is kept
	Interval int64  `json:"pollIntervalMs,omitempty"`
}

// Detail is a task with its result.
type Detail struct {
	Task
	Result        *sdk.CallToolResult `json:"result,omitempty"`
	Error         *jsonrpc.Error      `json:"error,omitempty"`
	InputRequests sdk.InputRequestMap `json:"inputRequests,omitempty"`
}

// Tasks are the task handlers. Get and the others return ErrNoTask for unknown ids.
type Tasks struct {
	Get    func(ctx context.Context, id string) (*Detail, error)
	Update func(ctx context.Context, id string, answers sdk.InputResponseMap) error
	Cancel func(ctx context.Context, id string) error
}

// ErrNoTask reports an id without a task.
var ErrNoTask = errors.New("task not found")

// Slot stores the task that a tool call became. A call has one if its client declares the extension.
type Slot struct{ task *Task }

// Become makes the call a task. From now on its id must be valid.
func (s *Slot) Become(t *Task) { s.task = t }

// slotKey is the context key of a Slot.
type slotKey struct{}

// SlotOf returns the slot in which a call stores its task; nil if the call must not become a task.
func SlotOf(ctx context.Context) *Slot {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	return s
}

// Results and parameters of the extension. Every result contains its type.
type (
	taskCreated struct {
		sdk.ResultBase
		Type string `json:"resultType"`
		Task
	}
	taskDetail struct {
		sdk.ResultBase
		Type string `json:"resultType"`
		Detail
	}
	taskDone struct {
		sdk.ResultBase
		Type string `json:"resultType"`
	}
	taskParams struct {
		sdk.ParamsBase
		ID        string                     `json:"taskId"`
		Responses map[string]json.RawMessage `json:"inputResponses,omitempty"`
	}
)

// Mount adds the extension to a server. Add it before middleware that must run within it.
func (t Tasks) Mount(server *sdk.Server) error {
	get := func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*taskDetail, error) {
		d, err := t.Get(ctx, p.ID)
		if err != nil {
			return nil, taskError(p.ID, err)
		}
		return &taskDetail{Type: "complete", Detail: *d}, nil
	}
	update := func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*taskDone, error) {
		return &taskDone{Type: "complete"}, taskError(p.ID, t.Update(ctx, p.ID, responsesOf(p.Responses)))
	}
	cancel := func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*taskDone, error) {
		return &taskDone{Type: "complete"}, taskError(p.ID, t.Cancel(ctx, p.ID))
	}
	return errors.Join(
		sdk.AddReceivingCustomMethod(server, "tasks/get", get),
		sdk.AddReceivingCustomMethod(server, "tasks/update", update),
		sdk.AddReceivingCustomMethod(server, "tasks/cancel", cancel),
	)
}

// responsesOf returns the readable responses and ignores others.
func responsesOf(raw map[string]json.RawMessage) sdk.InputResponseMap {
	all := sdk.InputResponseMap{}
	for key, r := range raw {
		var one sdk.InputResponseMap
		if b, err := json.Marshal(map[string]json.RawMessage{key: r}); err == nil && json.Unmarshal(b, &one) == nil {
			maps.Copy(all, one)
		}
	}
	return all
}

// taskError returns the protocol error for a failed request about a task.
func taskError(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoTask):
		return invalidParams("task %s not found; a task has the id of its job, see jobs", quoteName(id))
	case isRPC(err):
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// TaskMiddleware gives tool calls their slots, and answers for those that became tasks. Requests of the
// extension are for clients that declare it.
func TaskMiddleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *taskParams:
			if err := checkTaskRequest(req, p); err != nil {
				return nil, err
			}
		case *sdk.CallToolParamsRaw:
			if !declaresTasks(req) {
				break
			}
			slot := &Slot{}
			res, err := next(context.WithValue(ctx, slotKey{}, slot), method, req)
			if err == nil && slot.task != nil {
				return &taskCreated{Type: "task", Task: *slot.task}, nil
			}
			return res, err
		}
		return next(ctx, method, req)
	}
}

// declaresTasks reports whether a client supports tasks: each request of that era declares it.
func declaresTasks(req sdk.Request) bool {
	r, ok := req.(interface{ ProtocolVersion() string })
	if !ok || r.ProtocolVersion() < modernVersion {
		return false
	}
	caps := capabilitiesOf(req)
	if caps == nil {
		return false
	}
	_, ok = caps.Extensions[tasksExtension]
	return ok
}

// capabilitiesOf returns the capabilities of a request's client, or nil.
func capabilitiesOf(req sdk.Request) *sdk.ClientCapabilities {
	if r, ok := req.(interface {
		ClientCapabilities() *sdk.ClientCapabilities
	}); ok {
		return r.ClientCapabilities()
	}
	return nil
}

// NeedsTasks returns the error for a client without task support that calls a task-only tool.
func NeedsTasks() error {
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}}})
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client does not declare " + tasksExtension, Data: data}
}

// checkTaskRequest compares a request of the extension with its headers (SEP-2243).
func checkTaskRequest(req sdk.Request, p *taskParams) error {
	if !declaresTasks(req) {
		return NeedsTasks()
	}
	if p.ID == "" {
		return invalidParams("taskId is missing")
	}
	if x := req.GetExtra(); x != nil && x.Header != nil {
		if name := x.Header.Get("Mcp-Name"); name != "" && name != p.ID {
			return &jsonrpc.Error{Code: sdk.CodeHeaderMismatch, Message: fmt.Sprintf("the header Mcp-Name is not the request's taskId %s", quoteName(p.ID))}
		}
	}
	return nil
}

// Times of tasks.
const (
	// taskAfter is how long a call is awaited before it becomes a task: a short one needs none.
	taskAfter    = 2 * time.Second
	taskInterval = 5 * time.Second
)

// taskTime formats a time for tasks.
func taskTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
