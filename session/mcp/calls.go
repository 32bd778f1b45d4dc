//go:build unix

package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/fairsched"
)

// Limits of concurrent calls. Each waiting call holds a connection to the daemon. Read-only calls have their own slots, so
// that waiting calls never block them.
const (
	maxWaiting = 200
	maxReading = 32
	// maxQueued is how many calls wait for a slot, acquireTimeout how long before they are rejected.
	maxQueued      = 256
	acquireTimeout = 5 * time.Second
)

// callLimiter bounds the concurrent calls.
type callLimiter struct { // semaphores of calls that wait, calls
	// that only read, and calls in the
	// queue
	waitSlots, readSlots, queueSlots chan struct{}
}

// newCallLimiter returns a limiter without calls.
func newCallLimiter() *callLimiter {
	return &callLimiter{make(chan struct{}, maxWaiting), make(chan struct{}, maxReading), make(chan struct{}, maxQueued)}
}

// acquire takes a slot and returns a function that frees it. A call that waits for a slot does not hold in.
func (p *callLimiter) acquire(ctx context.Context, in *fairsched.Slot, waits bool) (func(), error) {
	c := p.readSlots
	if waits {
		c = p.waitSlots
	}
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	default:
	}
	full := fmt.Errorf("%d calls are under way; wait for some of them, and call wait once for several jobs", cap(c))
	select {
	case p.queueSlots <- struct{}{}:
		defer func() { <-p.queueSlots }()
	default:
		return nil, full
	}
	in.Give()
	defer in.GoOn(ctx)
	t := time.NewTimer(acquireTimeout)
	defer t.Stop()
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return nil, full
	}
}

// currentCall is a call in progress.
type currentCall struct {
	tool      *tool
	level     Level
	id        string // of the job that the call starts if the caller gave none; equal when the call is repeated
	req       *sdk.CallToolRequest
	task      *Slot // nil: the client does not support tasks
	cannotAsk bool  // no user can answer
	// unanswered is why the user gave no answer; empty if not asked or answered.
	unanswered string
}

// callKey is the context key of a currentCall.
type callKey struct{}

// currentCallOf returns the call of a context.
func currentCallOf(ctx context.Context) *currentCall {
	d, _ := ctx.Value(callKey{}).(*currentCall)
	return d
}

// callTime bounds a call from its arrival. Sending the final answer takes at most answerTime.
const (
	callTime   = 48 * time.Second
	answerTime = time.Second
)

// limitCalls wraps each call: it checks names, acquires a slot and bounds the time.
func (s *Server) limitCalls(l Level) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx = context.WithValue(ctx, requestKey{}, &request{Request: req})
			params, ok := req.GetParams().(*sdk.CallToolParamsRaw)
			if method != "tools/call" || !ok {
				in := s.slotOf(req)
				if method == "subscriptions/listen" {
					in.End()
				}
				defer in.End()
				return next(fairsched.With(ctx, in), method, req)
			}
			t, err := toolNamed(params.Name, l)
			if err != nil {
				return nil, err
			}
			refused := func(err error) (sdk.Result, error) {
				full := failure(err, "")
				completeRefusal(t, full)
				return full, nil
			}
			in, err := s.slotFor(ctx, req, t)
			if err != nil {
				return refused(err)
			}
			defer in.End() // the answer is written without it: its reader may be slow
			free, err := s.limiter.acquire(ctx, in, t.mayWait)
			if err != nil {
				return refused(err)
			}
			defer free()
			ctx, cancel := context.WithDeadline(ctx, in.ArrivedAt().Add(callTime))
			defer cancel()
			defer context.AfterFunc(s.lifetime, cancel)()
			ctx = fairsched.With(ctx, in)
			d := &currentCall{tool: t, level: l, task: SlotOf(ctx)}
			d.id = newID(d.task != nil)
			res, err := askNext(next)(context.WithValue(ctx, callKey{}, d), method, req)
			if r, ok := res.(*sdk.CallToolResult); ok && r != nil {
				completeRefusal(t, r)
			}
			if err == nil || !t.mayWait || isRPC(err) || s.lifetime.Err() != nil {
				return res, err
			}
			// The user did not answer in time or cannot be asked. The call continues as the same job, and its state is
			// returned.
			s.options.Log.Info("prompt unanswered", "tool", t.name, "err", err)
			again, cancelAgain := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
			defer cancelAgain()
			return next(context.WithValue(again, callKey{}, &currentCall{tool: t, level: l, id: d.id, cannotAsk: true, unanswered: "no answer from the user yet"}), method, req)
		}
	}
}

// newID returns an id for a call without one. Models read and write it, so it is short. A task's id is as long as a
// key, since it grants access to the task.
func newID(task bool) string {
	id := strings.ToLower(rand.Text())
	if task {
		return id
	}
	return id[:12]
}

// slotOf returns the slot of a request, or nil over stdio.
func (s *Server) slotOf(req sdk.Request) *fairsched.Slot {
	if x := req.GetExtra(); x != nil {
		return s.scheduling.slot(x.Header)
	}
	return nil
}

// slotFor returns the slot for a call.
func (s *Server) slotFor(ctx context.Context, req sdk.Request, t *tool) (*fairsched.Slot, error) {
	if in := s.slotOf(req); in != nil {
		return in, nil
	}
	ctx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	in, err := s.scheduling.begin(ctx, "", "", t.name)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("call not started: too many concurrent calls (waited %s). Let other calls finish, and use one wait for several jobs", slotTimeout)
	}
	return in, err
}

// isRPC reports whether an error is a protocol error.
func isRPC(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e)
}

// toolNamed returns a tool of a level, or an error that lists the tools.
func toolNamed(name string, l Level) (*tool, error) {
	i := slices.IndexFunc(tools, byName(name))
	switch {
	case i >= 0 && tools[i].level <= l:
		return &tools[i], nil
	case i >= 0:
		return nil, invalidParams("the tool %s is not allowed here: this client may use the tools of level %s", name, l)
	}
	var names []string
	for i := range tools {
		if tools[i].level <= l {
			names = append(names, tools[i].name)
		}
	}
	return nil, invalidParams("unknown tool %s; there are %s", quoteName(name), strings.Join(names, ", "))
}

// byName returns a function that matches a tool by name.
func byName(name string) func(tool) bool { return func(t tool) bool { return t.name == name } }

// invalidParams returns a protocol error for invalid parameters.
func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// quoteName returns a client-chosen name for a message.
func quoteName(name string) string {
	if len(name) > 64 {
		name = name[:64] + "…"
	}
	return fmt.Sprintf("%q", name)
}

// decode decodes arguments that the schema has accepted.
func decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, nil
	}
	err := json.Unmarshal(raw, &v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) { // the schema accepts 5.0 for an integer
		err = api.Errorf(api.CodeInvalid, "the argument %s cannot be %s", wrong.Field, wrong.Value).WithHint("write an integer without a fraction")
	}
	return v, err
}
