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
	if isAgentMessage(e, &in.Body) {
		return s.submit(ctx, e, in.Body)
	}
	if in.Body.ConfirmMS > 0 {
		return s.typeAndConfirm(ctx, e, in.Body)
	}
	r, err := s.typeInput(ctx, e, in.Body)
	return typedOf(&r), err
}

func typedOf(r *session.TypeResult) api.Typed {
	return api.Typed{Cursor: r.Cursor, Echo: string(r.Echo), Duplicate: r.Duplicate}
}

// typeInput types the input of a request.
func (s *Server) typeInput(ctx context.Context, e *registry.Handle, in api.Input) (session.TypeResult, error) {
	if in.EOF && !e.UsesPipes() {
		return session.TypeResult{}, api.Errorf(api.CodeInvalid, "only sessions on pipes have an input that can be closed").
			WithHint("type C-d where the program takes that for the end")
	}
	t, err := typeRequestOf(in)
	if err != nil {
		return session.TypeResult{}, err
	}
	if encode := t.Encode; e.UsesPipes() {
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

// pipeLines replaces a final Enter by a newline: on a pipe no terminal driver does that.
func pipeLines(b []byte, from int, in api.Input) []byte {
	if in.Enter && len(b) > from && b[len(b)-1] == '\r' {
		b[len(b)-1] = '\n'
	}
	return b
}

// inputDigest returns a digest that detects a reused id; 0 for secrets. It ignores whether text is typed or pasted,
// because that depends on the program.
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

// typeRequestOf converts a request to input for the session's owner. Keys and pastes become bytes there, where the terminal's
// modes are known.
func typeRequestOf(in api.Input) (session.TypeRequest, error) {
	t := session.TypeRequest{Version: in.ExpectVersion, Paste: in.Paste != nil, Secret: in.Secret, Force: in.Force, MustStartLine: in.FreshLine, ID: in.ID, Digest: inputDigest(&in)}
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

// typeOnce types a message and counts it. A repeated one is typed once, and completely even if the client disconnects.
// now is zero for input that the user did not type.
func (s *stream) typeOnce(ctx context.Context, t session.TypeRequest, now time.Time) error {
	typing := ctx
	if s.acceptedC != nil {
		t.ID = s.resume.Key + "." + strconv.FormatUint(s.accepted.Load(), 10)
		typing = context.WithoutCancel(ctx)
	}
	if err := s.typeMessage(typing, t, now); err != nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	s.countAccepted()
	return nil
}

const (
	// ackDelay delays an acknowledgement that is not urgent; any other message carries it earlier.
	ackDelay = 100 * time.Millisecond
	// maxUnacked is the number of unacknowledged messages at which the acknowledgement is sent at once.
	maxUnacked = 256
)

// countAccepted counts accepted input and schedules its acknowledgement.
func (s *stream) countAccepted() {
	if s.acceptedC == nil {
		return
	}
	n := s.accepted.Add(1)
	if s.resume.AcksLate && n-s.acked.Load() < maxUnacked {
		if s.ackPending.CompareAndSwap(false, true) {
			time.AfterFunc(ackDelay, func() {
				s.ackPending.Store(false)
				if s.acked.Load() != s.accepted.Load() {
					s.signalAccepted()
				}
			})
		}
		return
	}
	s.signalAccepted()
}

// signalAccepted schedules a message with the number of accepted messages.
func (s *stream) signalAccepted() {
	select {
	case s.acceptedC <- struct{}{}:
	default:
	}
}

// typeMessage types for the client. Rejected input does not end the connection, because the client sees the state.
//
// Input that the owner did not handle before its end is not counted: the client sends it to the next owner.
func (s *stream) typeMessage(ctx context.Context, t session.TypeRequest, now time.Time) error {
	if s.readOnly {
		return nil
	}
	if !s.e.Clients.MayType(s.client, now) {
		if !now.IsZero() {
			select {
			case s.rejectedC <- struct{}{}:
			default:
			}
		}
		return nil
	}
	s.e.Clients.NoteActivity(s.client, 0, 0)
	s.applySize(ctx)
	t.FromUser = true
	_, err := s.srv.typeAs(ctx, s.e, t, "")
	if err != nil && (ctx.Err() != nil || s.acceptedC != nil && errors.Is(err, session.ErrStopped)) {
		return err
	}
	return nil
}

func (s *Server) postRules(ctx context.Context, in *sessionBody[api.RespondRules]) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if err := s.admitRules(ctx, e, &in.Body); err != nil {
		return nil, err
	}
	return e.AddRules(ctx, &in.Body)
}

func (s *Server) getRules(ctx context.Context, in *SessionPath) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	return e.Rules(ctx)
}

func (s *Server) deleteRules(ctx context.Context, in *struct {
	SessionPath
	Rule []string `query:"rule,explode" doc:"id or name"`
	All  bool     `query:"all" doc:"all rules of the session"`
}) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if in.All == (len(in.Rule) > 0) {
		return nil, api.Errorf(api.CodeInvalid, "no rules named").WithHint("name rules, or set all")
	}
	return e.RemoveRules(ctx, in.Rule)
}

func (s *Server) getRuleMatches(_ context.Context, in *SessionPath) ([]api.RespondFiring, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	return e.RuleMatches()
}
