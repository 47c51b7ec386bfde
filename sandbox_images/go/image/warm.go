package main

import (
	"bufio"
	"bytes"
	"container/heap"
	"container/list"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

var _ = []any{bufio.NewReader, bytes.Contains, heap.Init, list.New, errors.New, io.ReadAll, math.Abs, big.NewInt,
	rand.Int, os.Exit, reflect.DeepEqual, regexp.MustCompile, sort.Ints, strconv.Itoa, strings.Fields,
	new(sync.Mutex), time.Now, unicode.IsLetter}

func main() { fmt.Println("warm") }
