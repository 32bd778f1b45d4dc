//go:build unix

package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

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
	return api.Typed{Cursor: r.Cursor, Echo: string(r.Echo)}, err
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
	t := session.Typing{Version: in.ExpectVersion, Paste: in.Paste != nil, Secret: in.Secret, Force: in.Force, ID: in.ID, Of: inputDigest(&in)}
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
		if err != nil {
			return t, api.Errorf(api.CodeInvalid, "%v", err)
		}
		keys = append(keys, k)
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
