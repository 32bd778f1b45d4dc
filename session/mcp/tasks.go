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

// tasksExtension is the extension of tasks (SEP-2663). The SDK has none of it: the middleware answers
// tools/call with a result of its own, and the methods are custom ones.
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

// Detail is a task with what came of it.
type Detail struct {
	Task
	Result        *sdk.CallToolResult `json:"result,omitempty"`
	Error         *jsonrpc.Error      `json:"error,omitempty"`
	InputRequests sdk.InputRequestMap `json:"inputRequests,omitempty"`
}

// Tasks are what answers for tasks. Get and the others give ErrNoTask for ids that are none.
type Tasks struct {
	Get    func(ctx context.Context, id string) (*Detail, error)
	Update func(ctx context.Context, id string, answers sdk.InputResponseMap) error
	Cancel func(ctx context.Context, id string) error
}

// ErrNoTask says that an id is no task's.
var ErrNoTask = errors.New("there is no such task")

// Slot takes the task that a tool call became. A call has one if its client declares the extension.
type Slot struct{ task *Task }

// Become makes the call a task, which has to be found by its id from now on.
func (s *Slot) Become(t *Task) { s.task = t }

type slotKey struct{}

// SlotOf is the slot of a call; nil: it must not become a task.
func SlotOf(ctx context.Context) *Slot {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	return s
}

// Results and parameters of the extension. Every result says its type.
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

// Mount adds the extension to a server. It has to be added before middleware that is to run within it.
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

// responsesOf are the responses that can be read. Others answer nothing that was asked, and are ignored.
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

func taskError(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoTask):
		return invalidParams("there is no task %s; a task's id is that of its job, and jobs lists them", quoted(id))
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

// declaresTasks says that a client takes tasks: each request of the era that has them says so.
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

// capabilitiesOf are what the client of a request says that it can do; nil: nothing.
func capabilitiesOf(req sdk.Request) *sdk.ClientCapabilities {
	if r, ok := req.(interface {
		ClientCapabilities() *sdk.ClientCapabilities
	}); ok {
		return r.ClientCapabilities()
	}
	return nil
}

// NeedsTasks is the error for a client that does not take tasks, of a tool that is nothing else.
func NeedsTasks() error {
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}}})
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client does not declare " + tasksExtension, Data: data}
}

// checkTaskRequest holds a request of the extension against what its headers say (SEP-2243).
func checkTaskRequest(req sdk.Request, p *taskParams) error {
	if !declaresTasks(req) {
		return NeedsTasks()
	}
	if p.ID == "" {
		return invalidParams("taskId is missing")
	}
	if x := req.GetExtra(); x != nil && x.Header != nil {
		if name := x.Header.Get("Mcp-Name"); name != "" && name != p.ID {
			return &jsonrpc.Error{Code: sdk.CodeHeaderMismatch, Message: fmt.Sprintf("the header Mcp-Name is not the request's taskId %s", quoted(p.ID))}
		}
	}
	return nil
}

// Times of tasks.
const (
	// taskAfter is how long a call is waited for before it becomes a task: what ends sooner needs none.
	taskAfter    = 2 * time.Second
	taskInterval = 5 * time.Second
)

// taskTime is a time as tasks have it.
func taskTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
