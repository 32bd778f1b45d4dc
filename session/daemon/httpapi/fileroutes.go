//go:build unix

package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sessionfiles"
	"github.com/longterm-dev/longterm/session/identity"
)

// ClearFiles removes files whose upload ended with an earlier daemon.
func (s *Server) ClearFiles() { s.files.Clear(s.log) }

// putFileQuery names a file to store; the body is its content.
type putFileQuery struct {
	SessionPath
	Name string `query:"name" required:"true" minLength:"1" maxLength:"1024" doc:"the file's name, without directories; it is made safe and unique"`

	body io.Reader
	size int64 // -1: unknown
}

// Resolve implements huma.Resolver: the body is read as it arrives.
func (q *putFileQuery) Resolve(c huma.Context) []error {
	r, _ := humago.Unwrap(c)
	q.body, q.size = r.Body, r.ContentLength
	return nil
}

func (s *Server) putFile(ctx context.Context, in *putFileQuery) (api.StoredFile, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.StoredFile{}, err
	}
	if err := mayUseFiles(ctx, e); err != nil {
		return api.StoredFile{}, err
	}
	conf := s.conf.Get().Files
	f, err := s.files.Put(e.ID(), in.Name, in.size, sessionfiles.Limits{File: conf.MaxSize, Total: conf.MaxTotal}, in.body)
	if err != nil {
		return f, err
	}
	s.daemon.Audit().AppendLater(audit.Record{
		Actor: identity.Of(ctx), Kind: audit.Write, Session: e.ID(), Name: e.Record().Name, Path: f.Path, Verdict: "allow",
		Note: fmt.Sprintf("put, %d bytes, sha256 %s", f.Size, f.SHA256),
	})
	return f, nil
}

func (s *Server) listFiles(ctx context.Context, in *SessionPath) ([]api.StoredFile, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if err := mayUseFiles(ctx, e); err != nil {
		return nil, err
	}
	list, err := s.files.List(e.ID())
	for i := range list {
		list[i].Name, list[i].Path = strings.ToValidUTF8(list[i].Name, "\ufffd"), strings.ToValidUTF8(list[i].Path, "\ufffd")
	}
	return list, err
}

// mayUseFiles rejects guests of a share link, and agents in sandboxes or under rules that neither run in the session nor
// started it. Others could read and write the files without longterm.
func mayUseFiles(ctx context.Context, e *registry.Handle) error {
	if g := grantOf(ctx); g != nil && g.Page && !g.Whole() {
		return api.Errorf(api.CodeDenied, "files of a session are not for its guests (login %s)", g.Name).
			WithHint("the user of that host copies files with `longterm put` and `longterm get`")
	}
	v, a := callerOf(ctx), identity.Of(ctx)
	if !v.IsRestricted || v.Session == e.ID() || a.Agent != "" && e.Record().Agent == a.Agent {
		return nil
	}
	return api.Errorf(api.CodeDenied, "the files of %s are not for %s", e.Record().Name, a).
		WithHint("an agent uses the files of the session it runs in, and of sessions that it started")
}

func (s *Server) getFile(ctx context.Context, in *struct {
	SessionPath
	Path string `query:"path" required:"true" minLength:"1" maxLength:"4096" doc:"absolute, or relative to the session's directory, or the name of a stored file. Agents and tokens read stored files only"`
}) (*huma.StreamResponse, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if err := mayUseFiles(ctx, e); err != nil {
		return nil, err
	}
	f, st, err := s.openFile(ctx, e, in.Path)
	if err != nil {
		return nil, err
	}
	if err := s.checkSecrets(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer f.Close()
		_, w := humago.Unwrap(c)
		if err := writeFile(w, f, st); err != nil {
			s.log.Warn("file not copied to its end", "session", e.ID(), "path", f.Name(), "err", err)
			panic(http.ErrAbortHandler) // the client must not take the part for the whole
		}
	}}, nil
}

// openFile opens a file that the caller may read. Only the user names paths: they can read any file without longterm.
func (s *Server) openFile(ctx context.Context, e *registry.Handle, path string) (*os.File, fs.FileInfo, error) {
	a := identity.Of(ctx)
	if grantOf(ctx) != nil || a.IsAgent() || a.Policy != "" || callerOf(ctx).IsRestricted {
		name := path
		if filepath.Dir(path) == s.files.Dir(e.ID()) {
			name = filepath.Base(path)
		}
		if strings.Contains(name, "/") {
			return nil, nil, api.Errorf(api.CodeDenied, "%q was not put into the session: only its user copies other files", path).
				WithHint("`longterm get %s` lists its files; read others in the session: `longterm exec %[1]s LINE`", e.Record().Name)
		}
		return s.files.OpenStored(e.ID(), name)
	}
	full := path
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		full = home + path[1:]
	}
	if !filepath.IsAbs(full) {
		full = filepath.Join(e.CurrentDir(e.Session.Status()), full)
	}
	f, st, err := sessionfiles.Open(full)
	if made := (*api.Error)(nil); errors.As(err, &made) && made.Code == api.CodeNotFound && !strings.Contains(path, "/") {
		if stored, st, storedErr := s.files.OpenStored(e.ID(), path); storedErr == nil {
			return stored, st, nil
		}
	}
	return f, st, err
}

// maxChecked bounds the files that are searched for secrets, in bytes.
const maxChecked = 16 << 20

// checkSecrets rejects a file with secrets if the caller receives none: masked, it would be another file.
func (s *Server) checkSecrets(ctx context.Context, f *os.File) error {
	set := s.redactorFor(ctx)
	if set == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxChecked+1))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	name := filepath.Base(f.Name())
	switch {
	case err != nil:
		return api.Errorf(api.CodeStorage, "%q cannot be read: %v", name, err)
	case len(b) > maxChecked:
		return api.Errorf(api.CodeDenied, "%q is too large to be searched for secrets (%d MiB)", name, maxChecked>>20).
			WithHint("the user of that host copies it with `longterm get`")
	case set.RedactText(string(b)) != string(b):
		return api.Errorf(api.CodeDenied, "%q contains secrets", name).WithHint("the user of that host copies it with `longterm get`")
	}
	return nil
}

// writeFile answers with a file's content. Its digest follows the content.
func writeFile(w http.ResponseWriter, f *os.File, st fs.FileInfo) error {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment")
	h.Set("Trailer", api.DigestTrailer)
	h.Set(api.FileNameHeader, url.PathEscape(filepath.Base(f.Name())))
	h.Set(api.FileModeHeader, fmt.Sprintf("%04o", st.Mode().Perm()))
	w.WriteHeader(http.StatusOK)
	sum := sha256.New()
	if _, err := io.CopyBuffer(io.MultiWriter(w, sum), onlyReader{f}, make([]byte, 256<<10)); err != nil {
		return err
	}
	h.Set(api.DigestTrailer, "sha-256=:"+base64.StdEncoding.EncodeToString(sum.Sum(nil))+":")
	return nil
}

// onlyReader hides other methods of a reader: its bytes pass through the digest.
type onlyReader struct{ io.Reader }
