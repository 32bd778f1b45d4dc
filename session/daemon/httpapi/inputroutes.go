//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/vterm/input"
)

func (s *Server) postInput(ctx context.Context, in *sessionBody[api.Input]) (api.Typed, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Typed{}, err
	}
	if submits(e, &in.Body) {
		return s.submit(ctx, e, in.Body)
	}
	if in.Body.ProveMS > 0 {
		return s.proven(ctx, e, in.Body)
	}
	r, err := s.typeInput(ctx, e, in.Body)
	return typedOf(&r), err
}

func typedOf(r *session.Typed) api.Typed {
	return api.Typed{Cursor: r.Cursor, Echo: string(r.Echo), Again: r.Again}
}

// typeInput types what a request asks for.
func (s *Server) typeInput(ctx context.Context, e *registry.Handle, in api.Input) (session.Typed, error) {
	if in.EOF && !e.OnPipes() {
		return session.Typed{}, api.Errorf(api.CodeInvalid, "only sessions on pipes have an input that can be closed").
			WithHint("type C-d where the program takes that for the end")
	}
	t, err := typing(in)
	if err != nil {
		return session.Typed{}, err
	}
	if encode := t.Encode; e.OnPipes() {
		t.Encode = func(dst []byte, v session.View) []byte {
			v.Modes.NewLine = false
			return pipeLines(encode(dst, v), len(dst), in)
		}
	}
	typed, err := s.typeAs(ctx, e, t, in.OnApproval)
	if in.EOF && err == nil {
		err = e.CloseInput(ctx)
	}
	return typed, err
}

// pipeLines makes the Enter key at the end of what was typed the end of a line: on a pipe
// no terminal driver does that.
func pipeLines(b []byte, from int, in api.Input) []byte {
	if in.Enter && len(b) > from && b[len(b)-1] == '\r' {
		b[len(b)-1] = '\n'
	}
	return b
}

// inputDigest is what input is, for one whose id is used again; 0 for secrets. A text may be a paste the next time:
// what is submitted depends on the program.
func inputDigest(in *api.Input) uint64 {
	if in.ID == "" || in.Secret {
		return 0
	}
	text := in.Text + string(in.Data)
	if in.Paste != nil {
		text += *in.Paste
	}
	b, _ := json.Marshal([]any{text, in.Keys, in.Enter, in.EOF}) // of plain values
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:]) | 1 // never 0
}

// typing makes a request into something the session's owner can type. Keys and pastes
// become bytes only there, where the terminal's modes are known.
func typing(in api.Input) (session.Typing, error) {
	t := session.Typing{Version: in.ExpectVersion, Paste: in.Paste != nil, Secret: in.Secret, Force: in.Force, Fresh: in.FreshLine, ID: in.ID, Of: inputDigest(&in)}
	if in.Auto {
		t.By = registry.ByProgram
	}
	given := 0
	for _, set := range []bool{in.Text != "", len(in.Keys) > 0, in.Paste != nil, len(in.Data) > 0} {
		if set {
			given++
		}
	}
	if given > 1 || given == 0 && !in.Enter && !in.EOF {
		return t, api.Errorf(api.CodeInvalid, "%d kinds of input are given", given).
			WithHint("give one of text, keys, paste and data")
	}
	var keys []input.Key
	for _, name := range in.Keys {
		k, err := input.ParseKey(name)
		if err == nil {
			keys = append(keys, k)
			continue
		}
		list, listErr := input.ParseKeys(name)
		if listErr != nil || !strings.Contains(name, "<") { // several keys in one name: scripts and rules write <Down><Enter>
			return t, api.Errorf(api.CodeInvalid, "%v", err)
		}
		keys = append(keys, list...)
	}
	if in.Enter {
		keys = append(keys, input.Key{Code: input.KeyEnter})
	}
	t.Encode = func(dst []byte, v session.View) []byte {
		dst = append(dst, in.Text...)
		dst = append(dst, in.Data...)
		if in.Paste != nil {
			dst = input.AppendPaste(dst, []byte(*in.Paste), &v.Modes)
		}
		for _, k := range keys {
			dst = input.AppendKey(dst, k, &v.Modes)
		}
		return dst
	}
	return t, nil
}

// typeOnce types a message and counts it. One that came before is typed once, so it is typed as a whole: its client may
// be lost. now is zero where nobody typed it.
func (s *stream) typeOnce(ctx context.Context, t session.Typing, now time.Time) error {
	typing := ctx
	if s.news != nil {
		t.ID = s.resume.Key + "." + strconv.FormatUint(s.taken.Load(), 10)
		typing = context.WithoutCancel(ctx)
	}
	if err := s.typed(typing, t, now); err != nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	s.took()
	return nil
}

const (
	// lateTold is when a client is told that something was taken that is not in a hurry to know, unless it is
	// told something else before.
	lateTold = 100 * time.Millisecond
	// mostUntold is how many messages of it are not waited with.
	mostUntold = 256
)

// took counts what was typed, and has it told.
func (s *stream) took() {
	if s.news == nil {
		return
	}
	n := s.taken.Add(1)
	if s.resume.Late && n-s.told.Load() < mostUntold {
		if s.telling.CompareAndSwap(false, true) {
			time.AfterFunc(lateTold, func() {
				s.telling.Store(false)
				if s.told.Load() != s.taken.Load() {
					s.tellTaken()
				}
			})
		}
		return
	}
	s.tellTaken()
}

// tellTaken has the client be told how many messages were taken.
func (s *stream) tellTaken() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// typed types for the client. That a session does not take it is no reason to cut
// the client off: it sees the state.
//
// What the session's owner did not come to any more is not counted: the client types it into the next one.
func (s *stream) typed(ctx context.Context, t session.Typing, now time.Time) error {
	if s.readOnly {
		return nil
	}
	if !s.e.Clients.Typed(s.seat, now) {
		if !now.IsZero() {
			select {
			case s.held <- struct{}{}:
			default:
			}
		}
		return nil
	}
	s.e.Clients.Active(s.seat, 0, 0)
	s.fit(ctx)
	t.Person = true
	_, err := s.srv.typeAs(ctx, s.e, t, "")
	if err != nil && (ctx.Err() != nil || s.news != nil && errors.Is(err, session.ErrStopped)) {
		return err
	}
	return nil
}
