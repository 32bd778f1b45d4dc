package secrets

import "reflect"

// Deep masks the texts in a value: in its fields, elements and what they point to. v is a pointer; maps and
// what is shared with others are replaced, not written to. Bytes ([]byte) are left alone.
func (s *Set) Deep(v any) {
	if p := reflect.ValueOf(v); !s.Empty() && p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(s.masked(p.Elem(), 0))
	}
}

// maxDepth bounds what refers to itself.
const maxDepth = 32

func (s *Set) masked(v reflect.Value, depth int) reflect.Value {
	if depth > maxDepth || !mayHaveText(v.Kind()) {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if got := s.Text(text); got != text {
			return reflect.ValueOf(got).Convert(v.Type())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		got := s.masked(v.Elem(), depth+1)
		if v.Kind() == reflect.Interface {
			return got
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(got)
		return p
	case reflect.Slice:
		if v.IsNil() || !mayHaveText(v.Type().Elem().Kind()) {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(s.masked(v.Index(i), depth+1))
		}
		return list
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), s.masked(it.Value(), depth+1))
		}
		return m
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(s.masked(v.Field(i), depth+1))
			}
		}
		return c
	}
	return v
}

func mayHaveText(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	}
	return false
}
