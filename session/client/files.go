//go:build unix

package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// PutFile stores a file with the session: the first size bytes of the content, so that a growing file is stored as of
// the start. A size of -1 stores all of it. The request is sent once, because its content is read once. The stored
// digest is compared with that of the sent bytes.
func (s *Session) PutFile(ctx context.Context, name string, size int64, content io.Reader) (api.StoredFile, error) {
	var f api.StoredFile
	if _, err := s.Info(ctx); err != nil { // starts the daemon, and connects to a remote host
		return f, err
	}
	if size >= 0 {
		content = io.LimitReader(content, size)
	}
	body := &upload{content: content, digest: sha256.New(), closed: make(chan struct{})}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, requestURL(s.path+"/files", url.Values{"name": {name}}), body)
	if err != nil {
		return f, err
	}
	if req.ContentLength = size; size == 0 {
		req.Body = http.NoBody
		_ = body.Close()
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Expect", "100-continue") // a refused file is not sent
	s.client.identify(req.Header)
	resp, err := s.client.doWithWatchdog(req, false)
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil:
		return f, cmp.Or(body.readError(), newDisconnectError(err))
	case resp.StatusCode >= http.StatusBadRequest:
		return f, readError(resp)
	}
	if err := decodeResponse(resp.Body, &f); err != nil {
		return f, newDisconnectError(err)
	}
	<-body.closed
	if got := hex.EncodeToString(body.digest.Sum(nil)); f.SHA256 != got {
		return f, api.Errorf(api.CodeStorage, "%s differs from what was sent (sha256 %s, not %s)", f.Path, f.SHA256, got).
			WithHint("remove it, and repeat the command")
	}
	return f, nil
}

// upload is the body of a request that stores a file. It computes the digest of the sent bytes.
type upload struct {
	content io.Reader
	digest  hash.Hash
	err     error
	once    sync.Once
	closed  chan struct{} // closed when the transport has finished reading; then the other fields can be used
}

// Read implements io.Reader.
func (u *upload) Read(b []byte) (int, error) {
	n, err := u.content.Read(b)
	u.digest.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = err
	}
	return n, err
}

// Close implements io.Closer.
func (u *upload) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}

// readError returns the error of reading the content, or nil.
func (u *upload) readError() error {
	select {
	case <-u.closed:
		if u.err != nil {
			return fmt.Errorf("not stored: %w", u.err)
		}
	default:
	}
	return nil
}

// Files returns the files stored with the session.
func (s *Session) Files(ctx context.Context) ([]api.StoredFile, error) {
	return send[[]api.StoredFile](ctx, s.client, "GET", s.path+"/files", nil, nil)
}

// File is an open file of a session's host.
type File struct {
	Name string // base name on the host
	Mode fs.FileMode

	resp   *http.Response
	digest hash.Hash
	size   int64 // bytes read so far
}

// GetFile opens a file of the session's host for reading: an absolute path, one relative to the session's directory, or the
// name of a stored file.
func (s *Session) GetFile(ctx context.Context, path string) (*File, error) {
	resp, err := s.client.do(ctx, "GET", s.path+"/file", url.Values{"path": {path}}, nil)
	if err != nil {
		return nil, err
	}
	f := &File{resp: resp, digest: sha256.New(), Mode: 0o600}
	f.Name, _ = url.PathUnescape(resp.Header.Get(api.FileNameHeader)) // an invalid one is empty
	if mode, err := strconv.ParseUint(resp.Header.Get(api.FileModeHeader), 8, 32); err == nil {
		f.Mode = fs.FileMode(mode).Perm()
	}
	return f, nil
}

// Read implements io.Reader. It returns io.EOF only after the whole content, whose digest it has verified.
func (f *File) Read(b []byte) (int, error) {
	n, err := f.resp.Body.Read(b)
	f.digest.Write(b[:n])
	f.size += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		return n, f.verifyDigest()
	case err != nil && f.resp.Request.Context().Err() != nil:
		return n, f.resp.Request.Context().Err()
	case err != nil:
		return n, api.Errorf(api.CodeUnavailable, "file incomplete: interrupted after %d bytes (%v)", f.size, err).WithHint("repeat the command")
	}
	return n, nil
}

// verifyDigest returns io.EOF if the content is complete, or an error.
func (f *File) verifyDigest() error {
	want := "sha-256=:" + base64.StdEncoding.EncodeToString(f.digest.Sum(nil)) + ":"
	switch got := f.resp.Trailer.Get(api.DigestTrailer); got {
	case want:
		return io.EOF
	case "":
		return api.Errorf(api.CodeUnavailable, "file incomplete: the digest after %d bytes is missing", f.size).WithHint("repeat the command")
	default:
		return api.Errorf(api.CodeUnavailable, "file damaged on its way: its digest is %s, not %s", want, got).WithHint("repeat the command")
	}
}

// Size returns the number of bytes read so far.
func (f *File) Size() int64 { return f.size }

// SHA256 returns the digest of the bytes read so far, in hexadecimal.
func (f *File) SHA256() string { return fmt.Sprintf("%x", f.digest.Sum(nil)) }

// Close stops reading.
func (f *File) Close() error { return f.resp.Body.Close() }
