; Training workload: recursion, lists, strings, matrices; last argument = rounds.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (sieve n)
	(let (a (array (+ n 1) (list true)) out '())
		(for (i 2 n)
			(when (a i)
				(push i out -1)
				(if (<= (* i i) n)
					(for (k (* i i) n i) (setf (a k) nil)))))
		out))

(define (quick l)
	(if (< (length l) 2) l
		(letn (p (first l) r (rest l))
			(append (quick (filter (fn (x) (< x p)) r)) (list p) (quick (filter (fn (x) (>= x p)) r))))))

(define (words n)
	(let (out '() state 12345)
		(dotimes (i n)
			(setq state (% (+ (* state 1103515245) 12345) 2147483648))
			(push (string "w" (% (/ state 256) 97)) out))
		out))

(define (frequencies l)
	(let (seen '())
		(dolist (w l)
			(if (assoc w seen)
				(setf (lookup w seen) (+ $it 1))
				(push (list w 1) seen)))
		(sort seen (fn (a b) (if (= (a 1) (b 1)) (< (a 0) (b 0)) (> (a 1) (b 1)))))))

(define (text n)
	(join (map (fn (i) (format "%d:%s" i (dup "x" (% i 7)))) (sequence 1 n)) ", "))

(dotimes (r (int (last (main-args))))
	(println (fib 17) " " (last (sieve 3000)))
	(println (slice (quick (map (fn (i) (% (* i 7919) 1009)) (sequence 1 250))) 0 5))
	(println (slice (frequencies (words 500)) 0 3))
	(println (length (replace "x+" (text 400) (upper-case $0) 0)))
	(let (m (array 12 12 (map (fn (i) (% (* i 31) 17)) (sequence 1 144))))
		(println (det (multiply m (transpose m)) 0))))
(exit)
