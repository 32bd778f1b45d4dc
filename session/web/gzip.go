package web

import (
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// gzipWriter compresses a response while it is written, if its type is text.
type gzipWriter struct {
	http.ResponseWriter
	acceptsGzip bool         // the client accepts gzip
	z           *gzip.Writer // nil: not compressed
	hasStarted  bool         // headers were written
}

// gzipWriters pools compressors.
var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// newGzipWriter returns a writer that compresses for clients that accept it.
func newGzipWriter(w http.ResponseWriter, r *http.Request) *gzipWriter {
	return &gzipWriter{ResponseWriter: w, acceptsGzip: acceptsGzip(r)}
}

// WriteHeader implements http.ResponseWriter.
func (p *gzipWriter) WriteHeader(code int) {
	h := p.Header()
	if !p.hasStarted && p.acceptsGzip && h.Get("Content-Encoding") == "" && isCompressible(h.Get("Content-Type")) && code != http.StatusNoContent && code != http.StatusNotModified {
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
		h.Del("Content-Length")
		p.z, _ = gzipWriters.Get().(*gzip.Writer)
		p.z.Reset(p.ResponseWriter)
	}
	p.hasStarted = true
	p.ResponseWriter.WriteHeader(code)
}

// isCompressible reports whether a type is worth compressing. Event streams are not: compression would delay them.
func isCompressible(mime string) bool {
	return strings.HasPrefix(mime, "application/json") || strings.HasPrefix(mime, "application/x-ndjson") ||
		strings.HasPrefix(mime, "text/") && !strings.HasPrefix(mime, "text/event-stream") || strings.HasPrefix(mime, "image/svg")
}

// Write implements http.ResponseWriter.
func (p *gzipWriter) Write(b []byte) (int, error) {
	if !p.hasStarted {
		p.WriteHeader(http.StatusOK)
	}
	if p.z != nil {
		return p.z.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (p *gzipWriter) Flush() {
	if p.z != nil {
		_ = p.z.Flush()
	}
	_ = http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap supports http.ResponseController.
func (p *gzipWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// close completes the compressed response.
func (p *gzipWriter) close() {
	if p.z == nil {
		return
	}
	_ = p.z.Close()
	p.z.Reset(nil)
	gzipWriters.Put(p.z)
	p.z = nil
}
