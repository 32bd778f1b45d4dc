package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// embedded has the page's files, which gen.go makes from the sources in the directory page.
//
//go:embed packed
var embedded embed.FS

// placeholder is replaced by the directory of the other files in topFiles.
const placeholder = "{{assets}}"

// topFiles are served at the top with the placeholder replaced: their path matters, or their name is fixed.
var topFiles = []string{"index.html", "sw.js", "manifest.webmanifest"}

// Files are the page's files. They are public and contain no data.
type Files struct {
	hash   string // of all files
	byName map[string]*asset
}

// asset is a file in the forms in which it is served.
type asset struct {
	plain, gzipped []byte // gzipped is nil if it is not smaller
	mime, etag     string
}

// Embedded returns the files of this program, read once.
var Embedded = sync.OnceValue(func() *Files {
	sub, err := fs.Sub(embedded, "packed")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	f, err := newFiles(sub)
	if err != nil {
		panic(err)
	}
	return f
})

// newFiles reads the files of a directory; those that end in .gz are already compressed.
func newFiles(dir fs.FS) (*Files, error) {
	content, packed := map[string][]byte{}, map[string][]byte{}
	err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		name, isPacked := strings.CutSuffix(file, ".gz")
		if err != nil || d.IsDir() || !isServed(name) {
			return err
		}
		b, err := fs.ReadFile(dir, file)
		if err == nil && isPacked {
			packed[name] = b
			b, err = gunzip(b)
		}
		content[name] = b
		return err
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(content))
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		one := sha256.Sum256(content[name])
		sum.Write(append([]byte(name+"\x00"), one[:]...))
	}
	f := &Files{hash: hex.EncodeToString(sum.Sum(nil)[:8]), byName: map[string]*asset{}}
	for name, b := range content {
		if filled := bytes.ReplaceAll(b, []byte(placeholder), []byte("p/"+f.hash)); slices.Contains(topFiles, name) && !bytes.Equal(filled, b) {
			b, packed[name] = filled, nil
		}
		f.byName[name] = newAsset(name, b, packed[name])
	}
	return f, nil
}

// isServed reports whether a file of the directory belongs to the page; notes and tests do not.
func isServed(name string) bool {
	_, known := types[path.Ext(name)]
	return known
}

// types maps the suffixes of served files to MIME types. The system's table is not used: it differs between machines.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json", ".webmanifest": "application/manifest+json",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
}

// Hash identifies this version of the files.
func (f *Files) Hash() string { return f.hash }

// gunzip decompresses b.
func gunzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// newAsset returns an asset, compressing it if gzipped is nil.
func newAsset(name string, b, gzipped []byte) *asset {
	sum := sha256.Sum256(b)
	a := &asset{plain: b, gzipped: gzipped, mime: types[path.Ext(name)], etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	if gzipped != nil {
		return a
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = z.Write(b)                                          // to memory
	_ = z.Close()
	if packed.Len() < len(b) {
		a.gzipped = packed.Bytes()
	}
	return a
}

// find returns the file of a path, without its first slash, and whether browsers may cache it forever. Paths are map keys, so
// no path leads elsewhere.
func (f *Files) find(p string) (a *asset, isImmutable bool) {
	if p == "" {
		p = "index.html"
	}
	if slices.Contains(topFiles, p) {
		return f.byName[p], false
	}
	name, ok := strings.CutPrefix(p, "p/"+f.hash+"/")
	if !ok || slices.Contains(topFiles, name) {
		return nil, false
	}
	return f.byName[name], true
}

// serve responds with the file of the path, and reports whether one exists.
func (f *Files) serve(w http.ResponseWriter, r *http.Request) bool {
	a, isImmutable := f.find(strings.TrimPrefix(r.URL.Path, "/"))
	if a == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", a.mime)
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if isImmutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if slices.Contains(r.Header.Values("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	b := a.plain
	if a.gzipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		b = a.gzipped
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(b)
	}
	return true
}

// InitialPaths returns the paths that a browser without a cache requests before it shows anything.
func (f *Files) InitialPaths() []string {
	paths := []string{"", "manifest.webmanifest"}
	for _, name := range []string{"style.css", "old.js", "app.js", "icon.svg"} {
		paths = append(paths, "p/"+f.hash+"/"+name)
	}
	return paths
}

// ServePublic responds with a file of the page with its security headers, and reports whether one exists. It is for servers
// without sessions.
func ServePublic(w http.ResponseWriter, r *http.Request) bool {
	setSecurityHeaders(w.Header())
	return Embedded().serve(w, r)
}

// acceptsGzip reports whether the response may be compressed.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}
