#!/usr/bin/env groovy
package com.example.build

import groovy.transform.CompileStatic
import static java.lang.Math.PI
import java.util.concurrent.*

/**
 * Anything with an area.
 */
interface Shape {
    double area()
    String getName()
}

/** A circle. */
@CompileStatic
class Circle extends Base {
    static final int LIMIT = 100
    private double radius
    String label = "circle"
    def anything
    List<String> names = []

    double area() {
        return PI * radius * radius
    }

    @Override
    String toString() {
        "circle $radius"
    }

    def twice() {
        def inner = { x -> x * 2 }
        inner(radius)
    }

    static Circle unit() {
        new Circle(1.0)
    }

    protected void resize(double factor, int times = 1) {
        for (int i = 0; i < times; i++) {
            radius *= factor
        }
    }

    class Segment {
        double angle

        double length() {
            angle * radius
        }
    }
}

trait Named {
    String name

    String hello() {
        "hello $name"
    }
}

abstract class Visitor {
    abstract void visit(Shape shape)
}

def version = '1.0'
int counter = 0
final String PREFIX = 'x'

// Adds two numbers.
def add(int a, int b) {
    return a + b
}

int multiply(int a, int b) {
    a * b
}

void hello(String name = 'world') {
    println "hello $name"
}

def square = { int x -> x * x }

def greet = { ->
    println 'hi'
}

private static boolean check(Object value) {
    value != null
}

def stages = ['build', 'test']

stages.each { stage ->
    def label = { text -> "[$text]" }
    println label(stage)
}

task compile(dependsOn: 'clean') {
    doLast {
        println 'compiling'
    }
}

dependencies {
    implementation 'org.example:core:1.0'
    testImplementation group: 'junit', name: 'junit', version: '4.13'
}

try {
    hello()
} catch (Exception e) {
    println e.message
} finally {
    println 'done'
}

def process(items) {
    items.each { item ->
        println item
    }
    if (items.size() > 10) {
        return true
    }
    switch (items.size()) {
        case 0:
            return false
        default:
            return true
    }
}

println add(1, 2)

def retry(int times, Closure body) {
    def attempt = 0
    while (attempt < times) {
        attempt++
        body(attempt)
    }
    return attempt
}

static String join(List<String> parts, String separator = ',') {
    StringBuilder out = new StringBuilder()
    for (part in parts) {
        out.append(part)
        out.append(separator)
    }
    return out.toString()
}
