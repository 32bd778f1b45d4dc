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
	"github.com/longterm-dev/longterm/session/turns"
)

// How many calls may be under way at once: each of those that wait holds a connection to the daemon.
// Those that only look have places of their own, so that nothing that waits keeps them.
const (
	maxWaiting = 200
	maxLooking = 32
	// maxQueued is how many calls wait for a place; placeTime is how long, before they are refused.
	maxQueued = 256
	placeTime = 5 * time.Second
)

// places bounds the calls under way.
type places struct{ waiting, looking, queue chan struct{} }

func newPlaces() *places {
	return &places{make(chan struct{}, maxWaiting), make(chan struct{}, maxLooking), make(chan struct{}, maxQueued)}
}

// take takes a place; the returned function gives it back. Who waits for one has no slot meanwhile.
func (p *places) take(ctx context.Context, in *turns.Slot, waits bool) (func(), error) {
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

// doing is a call under way, as its handler sees it.
type doing struct {
	tool   *tool
	level  Level
	id     string // of the job that the call begins, where the caller gave none; the same when the call is made again
	req    *sdk.CallToolRequest
	task   *Slot // nil: the client takes no tasks
	silent bool  // nobody can be asked any more
	// unanswered says why the person who was asked gave no answer; empty: nobody was, or it was given.
	unanswered string
}

type doingKey struct{}

func doingOf(ctx context.Context) *doing {
	d, _ := ctx.Value(doingKey{}).(*doing)
	return d
}

// callTime bounds a call as a whole from when it came, whatever it waits for. What is told then takes sayTime at most.
const (
	callTime = 48 * time.Second
	sayTime  = time.Second
)

// calls is what each call goes through: names are checked, a place is taken, time is bounded.
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
				return next(turns.With(ctx, in), method, req)
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
			ctx, cancel := context.WithDeadline(ctx, in.Came().Add(callTime))
			defer cancel()
			defer context.AfterFunc(s.ending, cancel)()
			ctx = turns.With(ctx, in)
			d := &doing{tool: t, level: l, task: SlotOf(ctx)}
			d.id = newID(d.task != nil)
			res, err := askOn(next)(context.WithValue(ctx, doingKey{}, d), method, req)
			if r, ok := res.(*sdk.CallToolResult); ok && r != nil {
				complete(t, r)
			}
			if err == nil || !t.waits || isRPC(err) || s.ending.Err() != nil {
				return res, err
			}
			// Whoever was to be asked did not answer in time, or cannot be asked: the call is the same
			// job, and its state is told instead.
			s.o.Log.Info("nobody answered", "tool", t.name, "err", err)
			again, cancelAgain := context.WithTimeout(context.WithoutCancel(ctx), sayTime)
			defer cancelAgain()
			return next(context.WithValue(again, doingKey{}, &doing{tool: t, level: l, id: d.id, silent: true, unanswered: "the person who was asked has not answered"}), method, req)
		}
	}
}

// newID is an id for a call that has none. Models read and write it, so it is short; that of a task, which whoever knows it may
// ask for, is as long as a key.
func newID(task bool) string {
	id := strings.ToLower(rand.Text())
	if task {
		return id
	}
	return id[:12]
}

// slotOf is the slot that a request came in with; nil: none, as over stdio.
func (s *Server) slotOf(req sdk.Request) *turns.Slot {
	if x := req.GetExtra(); x != nil {
		return s.lanes.slot(x.Header)
	}
	return nil
}

// slotFor is the slot that a call is worked on in.
func (s *Server) slotFor(ctx context.Context, req sdk.Request, t *tool) (*turns.Slot, error) {
	if in := s.slotOf(req); in != nil {
		return in, nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	in, err := s.lanes.begin(ctx, "", "", t.name)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("there are too many calls at once, and for %s it was not this one's turn; nothing was done for it. Wait for others to be answered, and call wait once for several jobs", turnTime)
	}
	return in, err
}

// isRPC says that an error is an answer of the protocol.
func isRPC(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e)
}

// toolNamed finds a tool, or says which ones there are.
func toolNamed(name string, l Level) (*tool, error) {
	i := slices.IndexFunc(tools, named(name))
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
	return nil, invalidParams("unknown tool %s; there are %s", quoted(name), strings.Join(names, ", "))
}

func named(name string) func(tool) bool { return func(t tool) bool { return t.name == name } }

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// quoted is a name that a client made up, in a message.
func quoted(name string) string {
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
