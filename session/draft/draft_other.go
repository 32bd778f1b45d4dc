//go:build !linux

package draft

import (
	"context"
	"io"
	"os"
)

// Draft is a draft's directory. It exists on Linux only.
type Draft struct{}

// Create returns ErrUnsupported.
func Create(string, Options) (*Draft, error) { return nil, ErrUnsupported }

// Open returns ErrUnsupported.
func Open(string) (*Draft, error) { return nil, ErrUnsupported }

// IsMergedView returns false.
func IsMergedView(*os.File, string) bool { return false }

func (*Draft) Dir() string                                           { return "" }
func (*Draft) Info() Info                                            { return Info{} }
func (*Draft) Roots() []Root                                         { return nil }
func (*Draft) LockMount() (*os.File, error)                          { return nil, ErrUnsupported }
func (*Draft) Cache(string) (Root, error)                            { return Root{}, ErrUnsupported }
func (*Draft) RemoveCaches() error                                   { return ErrUnsupported }
func (*Draft) End() error                                            { return ErrUnsupported }
func (*Draft) Changes(context.Context) (Changes, error)              { return Changes{}, ErrUnsupported }
func (*Draft) ChangesOf(context.Context, int) (Changes, error)       { return Changes{}, ErrUnsupported }
func (*Draft) Diff(context.Context, io.Writer, ...string) error      { return ErrUnsupported }
func (*Draft) Commit(context.Context, CommitOptions) (Result, error) { return Result{}, ErrUnsupported }
func (*Draft) Discard(context.Context, ...string) (Result, error)    { return Result{}, ErrUnsupported }
func (*Draft) Scan(context.Context, int) (int, error)                { return 0, ErrUnsupported }
func (*Draft) Size() (int64, error)                                  { return 0, ErrUnsupported }
func (*Draft) SaveVersions(context.Context, int, int64) (int, error) { return 0, ErrUnsupported }
func (*Draft) Undo(context.Context, int, func(string) (*os.File, error)) ([]string, error) {
	return nil, ErrUnsupported
}
