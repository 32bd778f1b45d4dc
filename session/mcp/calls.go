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

// Limits of concurrent calls. Each waiting call holds a connection to the daemon. Read-only calls have their own
// places, so that waiting calls never block them.
const (
	maxWaiting = 200
	maxLooking = 32
	// maxQueued is how many calls wait for a place; placeTime is how long, before they are refused.
	maxQueued = 256
	placeTime = 5 * time.Second
)

// places bounds the concurrent calls.
type places struct { // semaphores of calls that wait, calls
	// that only read, and calls in the
	// queue
	waiting, looking, queue chan struct{}
}

func newPlaces() *places {
	return &places{make(chan struct{}, maxWaiting), make(chan struct{}, maxLooking), make(chan struct{}, maxQueued)}
}

// take takes a place and returns a function that frees it. A call that waits for a place holds no slot.
func (p *places) take(ctx context.Context, in *fairsched.Slot, waits bool) (func(), error) {
	c := p.looking
	if waits {
		c = p.waiting
	}
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	default:
	}
	full := fmt.Errorf("%d calls are under way; wait for some of them, and call wait once for several jobs", cap(c))
	select {
	case p.queue <- struct{}{}:
		defer func() { <-p.queue }()
	default:
		return nil, full
	}
	in.Give()
	defer in.GoOn(ctx)
	t := time.NewTimer(placeTime)
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

// currentCall is a call in progress, as its handler sees it.
type currentCall struct {
	tool      *tool
	level     Level
	id        string // of the job that the call starts if the caller gave none; equal when the call is repeated
	req       *sdk.CallToolRequest
	task      *Slot // nil: the client takes no tasks
	cannotAsk bool  // no user can answer
	// unanswered is why the user gave no answer; empty if not asked or answered.
	unanswered string
}

type doingKey struct{}

func doingOf(ctx context.Context) *currentCall {
	d, _ := ctx.Value(doingKey{}).(*currentCall)
	return d
}

// callTime bounds a whole call from its arrival. Sending the final answer takes at most answerTime.
const (
	callTime   = 48 * time.Second
	answerTime = time.Second
)

// calls wraps each call: it checks names, takes a place and bounds the time.
func (s *Server) calls(l Level) sdk.Middleware {
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
				complete(t, full)
				return full, nil
			}
			in, err := s.slotFor(ctx, req, t)
			if err != nil {
				return refused(err)
			}
			defer in.End() // the answer is written without it: its reader may be slow
			free, err := s.places.take(ctx, in, t.waits)
			if err != nil {
				return refused(err)
			}
			defer free()
			ctx, cancel := context.WithDeadline(ctx, in.ArrivedAt().Add(callTime))
			defer cancel()
			defer context.AfterFunc(s.ending, cancel)()
			ctx = fairsched.With(ctx, in)
			d := &currentCall{tool: t, level: l, task: SlotOf(ctx)}
			d.id = newID(d.task != nil)
			res, err := askNext(next)(context.WithValue(ctx, doingKey{}, d), method, req)
			if r, ok := res.(*sdk.CallToolResult); ok && r != nil {
				complete(t, r)
			}
			if err == nil || !t.waits || isRPC(err) || s.ending.Err() != nil {
				return res, err
			}
			// The user did not answer in time or cannot be asked. The call continues as the same job, and its state is
			// returned.
			s.o.Log.Info("prompt unanswered", "tool", t.name, "err", err)
			again, cancelAgain := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
			defer cancelAgain()
			return next(context.WithValue(again, doingKey{}, &currentCall{tool: t, level: l, id: d.id, cannotAsk: true, unanswered: "no answer from the user yet"}), method, req)
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
		return s.lanes.slot(x.Header)
	}
	return nil
}

// slotFor returns the slot for a call.
func (s *Server) slotFor(ctx context.Context, req sdk.Request, t *tool) (*fairsched.Slot, error) {
	if in := s.slotOf(req); in != nil {
		return in, nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	in, err := s.lanes.begin(ctx, "", "", t.name)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("call not started: too many concurrent calls (waited %s). Let other calls finish, and use one wait for several jobs", turnTime)
	}
	return in, err
}

// isRPC reports whether an error is a protocol error.
func isRPC(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e)
}

// toolNamed returns a tool, or an error that lists the tools.
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

func byName(name string) func(tool) bool { return func(t tool) bool { return t.name == name } }

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

// decode reads arguments, which the schema has allowed.
func decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if len(raw) == 0 {
		return v, nil
	}
	err := json.Unmarshal(raw, &v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) { // the schema takes 5.0 for an integer
		err = api.Errorf(api.CodeInvalid, "the argument %s cannot be %s", wrong.Field, wrong.Value).WithHint("write an integer without a fraction")
	}
	return v, err
}
