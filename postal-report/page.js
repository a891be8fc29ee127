// Draws the three charts from the data element. Chart.js stands before this script.
(() => {
    'use strict';
    const data = JSON.parse(document.getElementById('chart-data').textContent);
    const single = data.series.length === 1;
    const charts = [];

    const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const own = index => colour('--s' + index % 8);
    const faded = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, '0');

    const number = value => value >= 100 || Number.isInteger(value)
        ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
    const latency = us => {
        const [value, unit] = us < 1e3 ? [us, 'µs'] : us < 1e6 ? [us / 1e3, 'ms'] : [us / 1e6, 's'];
        return (value >= 99.95 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))) + ' ' + unit;
    };
    const elapsed = s => {
        const whole = Math.round(s * 10) / 10;
        if (longest < 180) return whole + ' s';
        const two = n => String(n).padStart(2, '0');
        const seconds = Math.round(whole), hours = Math.floor(seconds / 3600);
        const minutes = two(Math.floor(seconds / 60) % 60);
        if (longest < 10800) return Math.floor(seconds / 60) + ':' + two(seconds % 60);
        return hours + ':' + minutes + (seconds % 60 ? ':' + two(seconds % 60) : '') + ' h';
    };
    const longest = Math.max(1, ...data.series.map(one => one.intervals.length
        ? one.intervals[one.intervals.length - 1][1] : 0));

    // Steps that people count time in, so that no tick stands at 0:37.
    const timeStep = () => [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400]
        .find(step => longest / step <= 12) || Math.ceil(longest / 10 / 86400) * 86400;

    // An interval of a record is [start_s, end_s, messages, p50_us, p99_us, warmup, partial, together].
    const [START, END, MESSAGES, P50, P99, WARMUP, PARTIAL, TOGETHER] = [0, 1, 2, 3, 4, 5, 6, 7];
    const kindOf = one => one[WARMUP] && one[PARTIAL] ? 'warm-up, partial' : one[WARMUP] ? 'warm-up'
        : one[PARTIAL] ? 'partial' : '';

    const steps = one => {
        const points = one.intervals.map(each => ({ x: each[START], y: each[MESSAGES], of: each }));
        const last = one.intervals[one.intervals.length - 1];
        if (last) points.push({ x: last[END], y: last[MESSAGES], of: last });
        return points;
    };
    const middles = (one, column) => one.intervals.map(each =>
        ({ x: (each[START] + each[END]) / 2, y: each[column], of: each }));

    const dashed = context => kindOf(context.p0.raw.of) ? [5, 4] : undefined;

    // A band behind the chart where the warm-up was, with its name.
    const warmup = {
        id: 'warmup',
        beforeDatasetsDraw(chart) {
            const seconds = Math.min(...data.series.map(one => one.warmup_s));
            if (!(seconds > 0)) return;
            const { ctx, chartArea: area, scales: { x } } = chart;
            const right = Math.min(x.getPixelForValue(seconds), area.right);
            ctx.save();
            ctx.fillStyle = faded(colour('--soft'), 0.1);
            ctx.fillRect(area.left, area.top, right - area.left, area.height);
            ctx.fillStyle = colour('--soft');
            ctx.font = '11px ' + Chart.defaults.font.family;
            if (right - area.left > 60) ctx.fillText('warm-up', area.left + 6, area.top + 14);
            ctx.restore();
        }
    };

    // Vertical lines at the percentiles of the only record.
    const percentiles = {
        id: 'percentiles',
        afterDatasetsDraw(chart) {
            if (!single) return;
            const { ctx, chartArea: area, scales: { x } } = chart;
            const marks = [['p50', data.series[0].p50_us], ['p99', data.series[0].p99_us]];
            ctx.save();
            ctx.font = '11px ' + Chart.defaults.font.family;
            let row = 0;
            for (const [name, us] of marks) {
                if (!(us > 0)) continue;
                const at = x.getPixelForValue(us);
                if (at < area.left || at > area.right) continue;
                const words = name + ' ' + latency(us);
                const width = ctx.measureText(words).width;
                ctx.strokeStyle = colour('--soft');
                ctx.setLineDash([2, 3]);
                ctx.beginPath();
                ctx.moveTo(at, area.top);
                ctx.lineTo(at, area.bottom);
                ctx.stroke();
                const left = at + 5 + width > area.right ? at - 5 - width : at + 5;
                const top = area.top + 3 + 16 * row++;
                ctx.fillStyle = faded(colour('--card'), 0.85);
                ctx.fillRect(left - 2, top, width + 4, 14);
                ctx.fillStyle = colour('--ink');
                ctx.fillText(words, left, top + 11);
            }
            ctx.restore();
        }
    };

    const grid = () => ({ color: colour('--line'), borderColor: colour('--line'), tickColor: colour('--line') });
    const axis = (title, more = {}) => ({
        type: 'linear', title: { display: true, text: title, color: colour('--soft') },
        grid: grid(), ...more, ticks: { color: colour('--soft'), maxRotation: 0, ...more.ticks }
    });
    const timeAxis = () => axis('elapsed', {
        min: 0, max: longest, ticks: { stepSize: timeStep(), callback: elapsed, includeBounds: false }
    });
    // Ticks at 1, 2 and 5; the axis leaves out those for which there is no room.
    const latencyTick = us => {
        const first = us / 10 ** Math.floor(Math.log10(us) + 1e-9);
        return [1, 2, 5].some(wanted => Math.abs(first - wanted) < 0.01) ? latency(us) : null;
    };
    const tooltip = more => ({
        backgroundColor: colour('--ink'), titleColor: colour('--card'), bodyColor: colour('--card'),
        footerColor: colour('--card'), padding: 9, cornerRadius: 6, boxPadding: 4, callbacks: more
    });
    const legend = shown => ({
        display: shown, align: 'start',
        labels: { color: colour('--ink'), boxWidth: 22, boxHeight: 0, padding: 14, font: { size: 12 } }
    });
    const options = (scales, callbacks, shown) => ({
        responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales, plugins: { legend: legend(shown), tooltip: tooltip(callbacks) }
    });
    const line = (label, points, stroke, more = {}) => ({
        label, data: points, borderColor: stroke, backgroundColor: faded(stroke, 0.16), borderWidth: 1.8,
        pointRadius: 0, pointHoverRadius: 4, pointHitRadius: 8, ...more
    });

    const spanTitle = items => {
        const of = items[0].raw.of;
        const kind = kindOf(of);
        return elapsed(of[START]) + ' – ' + elapsed(of[END]) + (kind ? ' (' + kind + ')' : '')
            + (of[TOGETHER] > 1 ? ', ' + of[TOGETHER] + ' intervals' : '');
    };

    const rateChart = () => ({
        type: 'line',
        plugins: [warmup],
        data: {
            datasets: data.series.map((one, index) => line(one.label, steps(one), own(index), {
                stepped: true, fill: single ? 'origin' : false,
                segment: {
                    borderDash: dashed,
                    backgroundColor: context => kindOf(context.p0.raw.of) ? faded(own(index), 0.06) : undefined
                }
            }))
        },
        options: options(
            { x: timeAxis(), y: axis(data.per_minute ? 'messages / min' : 'messages', { beginAtZero: true, grace: '10%', ticks: { callback: number } }) },
            { title: spanTitle, label: item => ' ' + (single ? '' : item.dataset.label + ': ') + number(item.raw.y)
                + (data.per_minute ? ' messages/min' : ' messages') },
            !single)
    });

    const latencyChart = () => {
        const values = data.series.flatMap(one => one.intervals.flatMap(each => [each[P50], each[P99]]))
            .filter(value => value > 0);
        const wide = values.length > 0 && Math.max(...values) / Math.min(...values) > 12;
        const dots = one => one.intervals.length < 2 ? 3 : 0;
        const sets = data.series.flatMap((one, index) => {
            const of = single ? '' : one.label + ' ';
            return [
                line(of + 'p99', middles(one, P99), single ? colour('--p99') : own(index),
                    { pointRadius: dots(one), segment: single ? { borderDash: dashed } : {} }),
                line(of + 'p50', middles(one, P50), own(index),
                    { pointRadius: dots(one), borderDash: single ? undefined : [2, 3], segment: single ? { borderDash: dashed } : {} })
            ];
        });
        return {
            type: 'line',
            plugins: [warmup],
            data: { datasets: sets },
            options: options(
                { x: timeAxis(), y: wide
                    ? axis('latency', { type: 'logarithmic', min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25, ticks: { callback: latencyTick, autoSkip: true } })
                    : axis('latency', { beginAtZero: true, grace: '8%', ticks: { callback: latency } }) },
                { title: spanTitle, label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y) },
                true)
        };
    };

    // A bin of a record is [lower_us, upper_us, share]; zero at both ends closes the hill.
    const hill = bins => {
        if (bins.length === 0) return [];
        const points = [{ x: bins[0][0], y: 0, of: bins[0] }];
        for (const bin of bins) points.push({ x: bin[0], y: bin[2] * 100, of: bin });
        points.push({ x: bins[bins.length - 1][1], y: 0, of: bins[bins.length - 1] });
        return points;
    };
    const distributionChart = () => {
        const sets = data.series.flatMap((one, index) => {
            const of = single ? '' : one.label + ' ';
            const shown = [line(of + one.phase, hill(one.message), own(index),
                { stepped: true, fill: single ? 'origin' : false })];
            if (one.service.length > 0) {
                shown.push(line(of + 'service', hill(one.service), single ? own(1) : own(index),
                    { stepped: true, fill: false, borderDash: [4, 3] }));
            }
            return shown;
        });
        const edges = data.series.flatMap(one => [one.message, one.service]).filter(bins => bins.length > 0)
            .flatMap(bins => [bins[0][0], bins[bins.length - 1][1]]);
        return {
            type: 'line',
            plugins: [percentiles],
            data: { datasets: sets },
            options: options(
                {
                    x: axis('latency', { type: 'logarithmic', min: Math.min(...edges) / 1.05, max: Math.max(...edges) * 1.05,
                        ticks: { callback: latencyTick, autoSkip: true, autoSkipPadding: 14 } }),
                    y: axis('share of messages', { beginAtZero: true, grace: '12%', ticks: { callback: value => Number(value.toPrecision(3)) + ' %' } })
                },
                {
                    title: items => latency(items[0].raw.of[0]) + ' – ' + latency(items[0].raw.of[1]),
                    label: item => ' ' + item.dataset.label + ': ' + (item.raw.of[2] * 100).toPrecision(3) + ' %'
                },
                true)
        };
    };

    const draw = (id, make) => {
        const canvas = document.querySelector('#' + id + ' canvas');
        if (canvas) charts.push(new Chart(canvas, make()));
    };
    const drawAll = () => {
        while (charts.length) charts.pop().destroy();
        Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
        Chart.defaults.font.size = 12;
        draw('chart-rate', rateChart);
        draw('chart-latency', latencyChart);
        draw('chart-distribution', distributionChart);
    };
    drawAll();
    // Canvases do not follow a style sheet: they are drawn again for the other scheme and for paper.
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
        matchMedia(query).addEventListener('change', drawAll);
    }
    addEventListener('beforeprint', () => {
        for (const details of document.querySelectorAll('details')) details.open = true;
    });
})();
